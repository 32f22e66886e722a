// CMS popup: what Decap CMS and Sveltia CMS do to log in.
import { clientId, provider, relay, run, userOf } from './page.js';

/** The name of the CMS's backend. The relay's messages carry it. */
const backend = 'github';
const relayOrigin = new URL(relay).origin;

run({
  async begin() {},

  async findUser() {
    const token = sessionStorage.getItem('cms-token');
    return token ? await userOf(token) : undefined;
  },

  async logIn() {
    sessionStorage.setItem('cms-token', await tokenFromPopup());
  },

  async logOut() {
    sessionStorage.removeItem('cms-token');
  },
});

async function tokenFromPopup() {
  const [, outcome, json = '{}'] = /^authorization:\w+:(success|error):(.+)$/.exec(await resultOfPopup()) ?? [];
  const { token, message } = JSON.parse(json);
  if (outcome === 'success') return token;
  throw new Error(message ?? 'The relay’s answer could not be read.');
}

// #region shown
/** Opens the popup, and repeats its greeting. It then posts the result. */
async function resultOfPopup() {
  const query = new URLSearchParams({ provider: backend, site_id: location.hostname });
  const url = `${relay}/auth/${provider}/${clientId}?${query}`;
  const popup = open(url, 'login', 'popup,width=560,height=720');
  if (popup === null) throw new Error('The browser has blocked the popup.');
  return await new Promise((resolve) => {
    addEventListener('message', function listen({ origin, source, data }) {
      if (origin !== relayOrigin || source !== popup) return;
      if (data === `authorizing:${backend}`) {
        popup.postMessage(data, relayOrigin);
        return;
      }
      removeEventListener('message', listen);
      popup.close();
      resolve(String(data));
    });
  });
}
// #endregion
