import { generateCodeVerifier, OAuth2Client, type OAuth2Token } from '@badgateway/oauth2-client';
import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { baseUrl, frontendOrigin, loginPath, type Relay, useRelays } from '../harness/relay/relay-under-test.ts';
import { certifiedProvider, type LoginProvider, startRelayFor } from './support/login-providers.ts';
import { pageFetch } from './support/page-fetch.ts';

describe('@badgateway/oauth2-client, without DPoP', () => {
  const startRelay = useRelays();
  let provider: LoginProvider;
  let relay: Relay;
  let library: OAuth2Client;
  const target = () => relay;

  before('start the provider and a relay that issues unbound refresh tokens', async () => {
    provider = await certifiedProvider();
    relay = await startRelayFor(provider, startRelay, { 'refresh-tokens': 'bearer' });
  });
  beforeEach(() => {
    library = new OAuth2Client({
      server: baseUrl,
      clientId: 'app',
      discoveryEndpoint: `/.well-known/oauth-authorization-server${loginPath}`,
      fetch: pageFetch(target),
    });
  });
  after(() => provider.close());

  async function logIn(): Promise<OAuth2Token> {
    const codeVerifier = await generateCodeVerifier();
    const login = { redirectUri: `${frontendOrigin}/`, state: 'of-this-page', codeVerifier };
    const url = new URL(await library.authorizationCode.getAuthorizeUri(login));
    const landing = await provider.logIn(new FakeBrowser(target), url);
    return await library.authorizationCode.getTokenFromCodeRedirect(landing.href, login);
  }

  async function expectUser({ accessToken }: OAuth2Token): Promise<void> {
    const headers = { Authorization: `Bearer ${accessToken}` };
    const response = await pageFetch(target)(`${baseUrl}/api/user`, { headers });
    expect(response.status).to.equal(200);
  }

  it('finds the endpoints, logs in, and refreshes', async () => {
    const token = await logIn();
    await expectUser(token);
    expect(token.expiresAt).to.be.above(Date.now());
    const second = await library.refreshToken(token);
    expect(second.accessToken).not.to.equal(token.accessToken);
    // A recent result is repeated.
    const third = await library.refreshToken(second);
    expect(third.accessToken).to.equal(second.accessToken);
    await expectUser(third);
  });

  it('revokes its tokens', async () => {
    const token = await logIn();
    await library.revoke(token, 'refresh_token');
    await library.revoke(token);
  });
});
