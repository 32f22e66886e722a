// The contract: the token comes back in the address of the page.
import { clientId, provider, relay, run, userOf } from './page.js';

// Do this first: the token must not stay in the address bar or the history.
const address = new URL(location.href);
const [token, state] = ['access_token', 'state'].map((name) => address.searchParams.get(name));
for (const name of ['access_token', 'state']) address.searchParams.delete(name);
if (address.href !== location.href) history.replaceState(null, '', address);

// #region shown
function logIn() {
  const fresh = crypto.randomUUID();
  sessionStorage.setItem('state', fresh);
  const query = new URLSearchParams({ client_id: clientId, state: fresh });
  location.assign(`${relay}/auth/${provider}?${query}`);
  return new Promise(() => {}); // The browser leaves the page.
}

async function begin() {
  if (!token) return;
  // The state binds the token to a login of this tab. Otherwise a forged link could log the reader
  // in as somebody else, or out.
  const expected = sessionStorage.getItem('state');
  sessionStorage.removeItem('state');
  if (expected === null || state !== expected) {
    throw new Error('That login was not started in this tab, so it was not used.');
  }
  sessionStorage.setItem('token', token);
}
// #endregion

run({
  begin,
  logIn,

  async findUser() {
    const kept = sessionStorage.getItem('token');
    if (!kept) return undefined;
    try {
      return await userOf(kept);
    } catch (error) {
      // Only a refusal ends the login. Any other failure may be temporary.
      if (error.cause === 401) sessionStorage.removeItem('token');
      throw error;
    }
  },

  async logOut() {
    sessionStorage.clear();
  },
});
