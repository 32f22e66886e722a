import { expect } from 'chai';
import { codeChallenge } from '../../src/login/pkce.ts';
import {
  authorizationRequest,
  withLoginParameters,
} from '../../src/oauth/authorization-request.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { Secret } from '../../src/secret.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { discoverProvider } from '../../src/upstream/discovery.ts';
import { createProviderEndpoints } from '../../src/upstream/provider-endpoints.ts';
import { FakeBrowser, type Page } from '../harness/browser/fake-browser.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';
import { signIn, startCertifiedProvider } from '../harness/provider/certified-provider.ts';

const origin = 'https://login.example.com';
const registered = { clientId: 'client-1', redirectUri: `${origin}/auth/provider/callback` };
const credentials = { ...registered, clientSecret: 'secret-1' };
const verifier = 'v'.repeat(43);

describe('a login at a real provider', () => {
  const client = createUpstreamClient('login-relay/test', { timeout: 10_000, concurrentCalls: 9 });
  let close: () => Promise<void>;
  let provider: Provider;
  afterEach(() => close());
  after(() => client.close());

  async function discover(issuer: string, given: Partial<Provider> = {}): Promise<void> {
    const context = { issuer, given, insecureHttp: false, encodingChanges: false };
    provider = await discoverProvider(client, context);
  }

  const endpoint = () => ({
    ...provider,
    ...registered,
    clientSecret: new Secret(credentials.clientSecret),
  });
  const endpoints = createProviderEndpoints(client, endpoint);
  const refresh = (token: string) => endpoints.refreshToken({ refreshToken: token }, () => {});
  const revoke = (tokens: object) => endpoints.revokeToken(tokens, () => {});

  /** @param pages goes through the pages of the provider */
  async function logIn(
    pages: (browser: FakeBrowser, first: Page) => Promise<Page>,
  ): Promise<TokenResponse> {
    const browser = new FakeBrowser(undefined, { frontEnd: origin });
    const url = authorizationRequest(registered, provider)({ refresh: true });
    const challenged = withLoginParameters(url, { codeChallenge: codeChallenge(verifier) });
    const { url: callback } = await pages(browser, await browser.visit(challenged));
    const code = callback.searchParams.get('code') ?? '';
    return await endpoints.exchangeCode({ code, codeVerifier: verifier }, () => {});
  }

  const lookUp = (token: string) => outcomeOf(endpoints.lookUpUser(token, () => {}));

  describe('with rotation and reuse detection (oidc-provider)', () => {
    let login: TokenResponse;
    let token: string;
    beforeEach(async () => {
      const { issuer, ...started } = await startCertifiedProvider({
        client: credentials,
        refreshes: true,
      });
      close = started.close;
      // It ignores offline_access without a consent.
      await discover(issuer, { authorizeParameters: [['prompt', 'consent']] });
      login = await logIn((browser, page) => signIn(browser, page, 'maria'));
      token = login.refreshToken ?? '';
    });

    it('is renewed, with a new refresh token each time', async () => {
      expect(provider.refreshRequest).to.deep.equal({ scope: 'offline_access' });
      expect(login).to.include({ expiresIn: 600, scope: 'openid offline_access' });
      const second = await refresh(token);
      const third = await refresh(second.refreshToken ?? '');
      const tokens = [login, second, third].flatMap((one) => [one.accessToken, one.refreshToken]);
      expect(new Set(tokens)).to.have.property('size', 6);
      expect(await lookUp(third.accessToken)).to.equal('ok');
    });

    it('ends when a refresh token is used twice', async () => {
      const second = await refresh(token);
      expect(await outcomeOf(refresh(token))).to.equal('refresh_refused');
      expect(await outcomeOf(refresh(second.refreshToken ?? ''))).to.equal('refresh_refused');
    });

    it('ends when its refresh token is revoked, which can be repeated', async () => {
      await revoke({ refreshToken: token, accessToken: login.accessToken });
      await revoke({ refreshToken: token });
      expect(await outcomeOf(refresh(token))).to.equal('refresh_refused');
      expect(await lookUp(login.accessToken)).to.equal('token_invalid');
    });

    it('loses its access token when only that is revoked', async () => {
      await revoke({ accessToken: login.accessToken });
      expect(await lookUp(login.accessToken)).to.equal('token_invalid');
    });

    it('is neither renewed nor revoked with a wrong client secret', async () => {
      const clientSecret = new Secret('wrong');
      const wrong = createProviderEndpoints(client, () => ({ ...endpoint(), clientSecret }));
      const renewal = wrong.refreshToken({ refreshToken: token }, () => {});
      expect(await outcomeOf(renewal)).to.equal('client_refused');
      const revocation = wrong.revokeToken({ refreshToken: token }, () => {});
      expect(await outcomeOf(revocation)).to.equal('client_refused');
      expect(await outcomeOf(refresh(token))).to.equal('ok');
    });
  });
});
