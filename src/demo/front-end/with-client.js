import { clientId, provider, relay, run, show } from './page.js';

/** Runs the page of a front end that logs in with the relay's client. */
export async function runWithClient(options) {
  const client = await import(`${relay}/client.js`).catch(() => undefined);
  if (client === undefined) {
    show('out', '', `The relay at ${relay} did not answer. Reload the page to try again.`);
    return;
  }
  const login = client.createLogin({ relay: `${relay}/auth/${provider}`, clientId, ...options });
  await run({
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
