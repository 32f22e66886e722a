-- Asks the relay whether a request may pass: the action "ask_login_relay_or_answer" of browsers.cfg.
--
-- If it may, this action sets txn.check_status to 204, and the variables below to the headers of the relay's answer.
-- If it may not, the action sends the relay's answer to the client. If anything goes wrong, the action sets no
-- status, and browsers.cfg refuses the request.

local variables = {
  ["x-forwarded-user"] = "txn.check_user",
  ["x-forwarded-preferred-username"] = "txn.check_preferred_username",
  ["x-forwarded-email"] = "txn.check_email",
  ["x-forwarded-groups"] = "txn.check_groups",
  ["cookie"] = "txn.check_cookie",
}

-- The headers that the relay reads.
local asked = {
  "authorization", "cookie", "origin", "accept", "range", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest",
  "sec-purpose", "purpose",
}

-- Headers that apply to a single connection, and headers that HAProxy sets.
local unpassed = { ["connection"] = true, ["keep-alive"] = true, ["content-length"] = true, ["date"] = true }

local function request(txn, resource)
  local lines = {
    "GET /auth/check/" .. resource .. " HTTP/1.1",
    "Host: " .. txn.sf:req_hdr("host"),
    "Connection: close",
    "X-Forwarded-For: " .. txn.sf:src(),
    "X-Forwarded-Proto: https",
    "X-Forwarded-Method: " .. txn.sf:method(),
    "X-Forwarded-Uri: " .. txn.sf:pathq(),
  }
  local headers = txn.http:req_get_headers()
  for _, name in ipairs(asked) do
    -- Send all values, because the relay refuses a request with two tokens.
    for _, value in pairs(headers[name] or {}) do lines[#lines + 1] = name .. ": " .. value end
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- Returns the status and the headers, or nothing if the headers do not end. A name may come several times.
local function head(socket)
  local status = (socket:receive("*l") or ""):match("^HTTP/1%.1 (%d%d%d) ")
  if not status then return end
  local headers = {}
  for _ = 1, 100 do
    local line = socket:receive("*l")
    if not line then return end
    local name, value = line:match("^([^:]+):%s*(.-)%s*$")
    if not name then return tonumber(status), headers end
    headers[#headers + 1] = { name:lower(), value }
  end
end

local function first(headers, name)
  for _, header in ipairs(headers) do
    if header[1] == name then return header[2] end
  end
end

-- Returns the body, or nothing if the body does not end.
local function body(socket, headers)
  local length = tonumber(first(headers, "content-length") or "")
  if length == 0 then return "" end
  return length and socket:receive(length)
end

local function send(txn, status, headers, text)
  local reply = txn:reply { status = status }
  for _, header in ipairs(headers) do
    if not unpassed[header[1]] then reply:add_header(header[1], header[2]) end
  end
  if txn.sf:method() ~= "HEAD" then reply:set_body(text) end
  txn:done(reply)
end

core.register_action("ask_login_relay_or_answer", { "http-req" }, function(txn, address, port, resource)
  local socket = core.tcp()
  socket:settimeout(5)
  if not (socket:connect(address, tonumber(port)) and socket:send(request(txn, resource))) then
    socket:close()
    return
  end
  local status, headers = head(socket)
  local text = status and status ~= 204 and body(socket, headers)
  socket:close()
  if status == 204 then
    for name, variable in pairs(variables) do txn:set_var(variable, first(headers, name) or "") end
    txn:set_var("txn.check_status", status)
  elseif text then
    send(txn, status, headers, text)
  end
end, 3)
