// OAuth: the page gets a code, and trades it for the tokens.
// Session: the relay keeps the tokens in a cookie. The page never has one.
import { clientId, provider, relay, run, show, tokenDelivery } from './page.js';

import(`${relay}/client.js`).then(runWith, () => {
  show('out', '', `The relay at ${relay} did not answer. Reload the page to try again.`);
});

function runWith({ createLogin }) {
  const options = tokenDelivery === 'session' ? { mode: 'session' } : {};
  const login = createLogin({ relay: `${relay}/auth/${provider}`, clientId, ...options });
  return run({
    begin: () => login.ready,
    async findUser() {
      // If the relay did not answer, nobody knows. Then the client asks again.
      const isKnown = await login.ready.then(
        () => true,
        () => false,
      );
      return isKnown && login.session === null ? undefined : await login.user();
    },
    async logIn() {
      show('busy', 'Going to the provider.');
      await login.login();
    },
    logOut: () => login.logout(),
    onChange: (listener) => login.onChange((session) => listener(session !== null)),
  });
}
