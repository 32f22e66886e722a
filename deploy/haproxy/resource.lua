-- Asks the relay whether a request may pass: the action "ask_login_relay" of resource.cfg.
--
-- The action sets txn.check_status to the status of the answer, and the variables below to the headers of the answer.
-- If anything goes wrong, it sets no status, and resource.cfg refuses the request.

local variables = {
  ["x-forwarded-user"] = "txn.check_user",
  ["x-forwarded-preferred-username"] = "txn.check_preferred_username",
  ["x-forwarded-email"] = "txn.check_email",
  ["x-forwarded-groups"] = "txn.check_groups",
  ["www-authenticate"] = "txn.check_challenge",
  ["retry-after"] = "txn.check_retry",
}

local function request(txn, resource)
  local lines = {
    "GET /auth/check/" .. resource .. " HTTP/1.1",
    "Host: " .. txn.sf:req_hdr("host"),
    "Connection: close",
    "X-Forwarded-For: " .. txn.sf:src(),
    "X-Forwarded-Proto: https",
    -- The relay refuses a token in the query.
    "X-Forwarded-Uri: " .. txn.sf:pathq(),
  }
  -- Send all values, because the relay refuses a request with two tokens.
  for _, value in pairs(txn.http:req_get_headers()["authorization"] or {}) do
    lines[#lines + 1] = "Authorization: " .. value
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- Returns the status and the headers, or nothing if the answer does not end.
local function answer(socket)
  local status = (socket:receive("*l") or ""):match("^HTTP/1%.1 (%d%d%d) ")
  if not status then return end
  local headers = {}
  for _ = 1, 100 do
    local line = socket:receive("*l")
    if not line then return end
    local name, value = line:match("^([^:]+):%s*(.-)%s*$")
    if not name then return tonumber(status), headers end
    headers[name:lower()] = value
  end
end

core.register_action("ask_login_relay", { "http-req" }, function(txn, address, port, resource)
  local socket = core.tcp()
  socket:settimeout(5)
  if socket:connect(address, tonumber(port)) and socket:send(request(txn, resource)) then
    local status, headers = answer(socket)
    if status then
      for name, variable in pairs(variables) do txn:set_var(variable, headers[name] or "") end
      txn:set_var("txn.check_status", status)
    end
  end
  socket:close()
end, 3)
