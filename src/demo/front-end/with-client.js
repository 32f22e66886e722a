// OAuth: the page gets a code, and trades it for the tokens.
// Session: the relay keeps the tokens in a cookie. The page never has one.
// Native: nobody registered the page, so it registers itself.
import { clientId, delivery, provider, relay, run, show } from './page.js';

const issuer = `${relay}/auth/${provider}`;
const redirectUri = location.origin + location.pathname;

import(`${relay}/client.js`).then(runWith, () => {
  show(undefined, `The relay at ${relay} did not answer. Reload the page to try again.`);
});

function runWith({ createLogin }) {
  const mode = delivery === 'session' ? 'session' : undefined;
  const loginOf = (id) => id && createLogin({ relay: issuer, clientId: id, redirectUri, mode });
  // A login comes back to the client that started it.
  let login = loginOf(delivery === 'native' ? sessionStorage.getItem('client-id') : clientId);
  return run({
    begin: async () => login?.ready,
    findUser: async () => (login?.session ? await login.user() : undefined),
    async logIn() {
      if (delivery === 'native') login = loginOf(await register());
      await login.login();
    },
    logOut: () => login.logout(),
    onChange: (listener) => login?.onChange((session) => listener(session !== null)),
  });
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
