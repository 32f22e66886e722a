// OAuth: the page gets a code, and trades it for the tokens.
// Session: the relay keeps the tokens in a cookie. The page never has one.
import { clientId, provider, relay, run, show, tokenDelivery } from './page.js';

import(`${relay}/client.js`).then(runWith, () => {
  show(undefined, `The relay at ${relay} did not answer. Reload the page to try again.`);
});

function runWith({ createLogin }) {
  const options = tokenDelivery === 'session' ? { mode: 'session' } : {};
  const login = createLogin({ relay: `${relay}/auth/${provider}`, clientId, ...options });
  return run({
    begin: () => login.ready,
    findUser: async () => (login.session === null ? undefined : await login.user()),
    logIn: () => login.login(),
    logOut: () => login.logout(),
    onChange: (listener) => login.onChange((session) => listener(session !== null)),
  });
}
