import { expect } from 'chai';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectUser } from '../../harness/expect/expectations.ts';
import {
  type CertifiedProvider,
  recordOf,
  startCertifiedProvider,
} from '../../harness/provider/certified-provider.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { type Relay, useRelays } from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';

const { describe } = needsChromium();

describe('a login at oidc-provider, found by discovery, in Chromium', () => {
  const openPage = useBrowser();
  const startRelay = useRelays();
  let provider: CertifiedProvider;
  let relay: Relay;
  let frontEnd: Serving;
  let origin: string;
  let baseUrl: string;

  before('start the provider, the front end and the relay', async () => {
    frontEnd = await serve((_request, response) => response.end('the front end'));
    origin = `http://front-end.localhost:${frontEnd.port}`;
    const port = await freePort();
    baseUrl = `http://localhost:${port}`;
    const redirectUri = `${baseUrl}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    provider = await startCertifiedProvider({ client, pkce: 'required' });
    const flags = { port: `${port}`, 'base-url': baseUrl, issuer: provider.issuer, origin };
    relay = await startRelay({ client, flags });
  });
  after('stop the provider and the front end', async () => {
    await Promise.all([provider.close(), frontEnd.close()]);
  });

  it('passes its login and consent pages, and ends at the front end with a token', async () => {
    const page = await openPage();
    // The provider's pages name a font of another site.
    await page.route(
      ({ protocol }) => protocol === 'https:',
      (route) => route.abort(),
    );
    await page.goto(`${baseUrl}/auth/provider`);
    await page.getByPlaceholder('Enter any login').fill('ada');
    await page.getByPlaceholder('and password').fill('any');
    await screenshot(page, 'flows-login-page');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${origin}/**`);
    const token = new URL(page.url()).searchParams.get('access_token') ?? '';
    expect(expectUser(await relay.userOf(token))).to.deep.equal(recordOf('ada'));
    const cookies = await page.context().cookies(baseUrl);
    const pending = cookies.filter(({ name }) => /^lr_login_[0-9a-f]{16}$/.test(name));
    expect(pending, 'the cookie of the login is gone').to.deep.equal([]);
  });
});
