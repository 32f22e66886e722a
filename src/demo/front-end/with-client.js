// OAuth: the page gets a code, and trades it for the tokens.
// Session: the relay keeps the tokens in a cookie. The page never has one.
// Native: nobody registered the page, so it registers itself.
// Resource: the token is the relay's, and opens an API of one's own.
import { clientId, delivery, provider, relay, run, show } from './page.js';

const issuer = `${relay}/auth/${provider}`;
const redirectUri = location.origin + location.pathname;
const mode = delivery === 'session' ? 'session' : undefined;
const resource = delivery === 'resource' ? `${location.origin}/api/notes` : undefined;
const isNative = delivery === 'native';

import(`${relay}/client.js`).then(runWith, () => {
  show(undefined, `The relay at ${relay} did not answer. Reload the page to try again.`);
});

// #region shown
function runWith({ createLogin }) {
  const loginOf = (id) => id && createLogin({ relay: issuer, clientId: id, redirectUri, mode, resource });
  // A login comes back to the client that started it.
  let login = loginOf(isNative ? sessionStorage.getItem('client-id') : clientId);
  return run({
    begin: async () => login?.ready,
    findUser: async () => (login?.session ? await userOf(login) : undefined),
    async logIn() {
      if (isNative) login = loginOf(await register());
      await login.login();
    },
    logOut: () => login.logout(),
    onChange: (listener) => login?.onChange((session) => listener(session !== null)),
  });
}
// #endregion

async function userOf(login) {
  const user = (await login.user()) ?? undefined;
  if (!user || !resource) return user;
  return { name: user.preferred_username, login: await readNotes(login) };
}

async function readNotes(login) {
  const response = await login.fetch(resource);
  if (!response.ok) throw new Error('The notes cannot be read.');
  const { notes } = await response.json();
  return notes.join(' ');
}

/** Registers the page as a client. @see RFC 7591 §3.1 */
async function register() {
  const response = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'The demo’s page', redirect_uris: [redirectUri] }),
  });
  const { client_id, error_description } = await response.json();
  if (!response.ok) throw new Error(error_description);
  sessionStorage.setItem('client-id', client_id);
  return client_id;
}
