// Logs a person in from a browser extension, and keeps the login. It needs no library.

/** Opens the login, and returns the tokens. @param relay such as https://login.example.com/auth/github */
export async function logIn(relay, client_id) {
  const [state, code_verifier] = [randomText(), randomText()];
  const redirect_uri = chrome.identity.getRedirectURL();
  const challenge = { code_challenge: await challengeOf(code_verifier), code_challenge_method: 'S256' };
  const start = { response_type: 'code', client_id, redirect_uri, state, ...challenge };
  const end = await chrome.identity.launchWebAuthFlow({
    url: `${relay}?${new URLSearchParams(start)}`,
    interactive: true,
  });
  const query = new URL(end).searchParams;
  if (query.get('state') !== state || query.get('iss') !== relay) throw new Error('This is not the end of this login.');
  if (!query.has('code')) throw new Error(query.get('error_description'));
  const code = query.get('code');
  return await askForTokens(relay, { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier });
}

/** Renews the login. Never call it twice at the same time, because each refresh token works once. */
export async function refresh(relay, client_id) {
  const { refresh_token } = await chrome.storage.local.get('refresh_token');
  return await askForTokens(relay, { grant_type: 'refresh_token', client_id, refresh_token });
}

async function askForTokens(relay, form) {
  const response = await fetch(`${relay}/token`, { method: 'POST', body: new URLSearchParams(form) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error_description);
  if (answer.refresh_token) await chrome.storage.local.set({ refresh_token: answer.refresh_token });
  return answer;
}

const encode = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (character) => ({ '+': '-', '/': '_', '=': '' })[character]);

const randomText = () => encode(crypto.getRandomValues(new Uint8Array(32)));

const challengeOf = async (text) =>
  encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
