import { expect } from 'chai';
import { authorizationRequest } from '../../src/oauth/authorization-request.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';
import { github as preset } from '../../src/providers/github.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { Secret } from '../../src/secret.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { createProviderEndpoints } from '../../src/upstream/provider-endpoints.ts';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { registration } from '../harness/relay/relay-under-test.ts';
import { github } from './fakes/github.ts';

const origin = 'https://login.example.com';
const registered = { clientId: 'client-1', redirectUri: `${origin}/auth/provider/callback` };

describe('the tokens of GitHub', () => {
  const client = createUpstreamClient('login-relay/test', { timeout: 10_000, concurrentCalls: 9 });
  const clientSecret = canary('secret');
  let fake: StrictProvider;
  let endpoint: Provider & typeof registered & { clientSecret: Secret };
  const endpoints = createProviderEndpoints(client, () => endpoint);
  afterEach(() => fake.stop());
  after(() => client.close());

  async function logIn(options: Parameters<typeof github>[1] = {}): Promise<TokenResponse> {
    fake = await StrictProvider.start(registration());
    fake.pages = github({ clientId: registered.clientId, clientSecret }, options);
    const here = (url: string) => fake.origin + new URL(url).pathname;
    const url = 'https://api.github.com/applications/client-1/token';
    endpoint = {
      ...preset,
      authorizeUrl: here(preset.authorizeUrl),
      tokenUrl: here(preset.tokenUrl),
      userUrl: here(preset.userUrl),
      revocation: preset.revocation && { ...preset.revocation, url: here(url) },
      ...registered,
      clientSecret: new Secret(clientSecret),
    };
    const browser = new FakeBrowser(undefined, { frontEnd: origin });
    const { url: callback } = await browser.visit(
      authorizationRequest(registered, endpoint)({ refresh: true }),
    );
    const code = callback.searchParams.get('code') ?? '';
    return await endpoints.exchangeCode({ code, codeVerifier: undefined }, () => {});
  }

  const refresh = (token = '') => endpoints.refreshToken({ refreshToken: token }, () => {});
  const revoke = (tokens: object) => endpoints.revokeToken(tokens, () => {});

  const lookUp = (token: string) => outcomeOf(endpoints.lookUpUser(token, () => {}));

  it('are renewed for 8 hours, and the old pair ends at once', async () => {
    const first = await logIn();
    expect(first).to.include({ expiresIn: 28_800, refreshExpiresIn: 15_897_600 });
    const second = await refresh(first.refreshToken);
    expect(await lookUp(second.accessToken)).to.equal('ok');
    expect(await lookUp(first.accessToken)).to.equal('token_invalid');
    expect(await outcomeOf(refresh(first.refreshToken))).to.equal('refresh_refused');
    expect(await outcomeOf(refresh(second.refreshToken))).to.equal('ok');
  });

  it('are renewed with the secret in the form, although the code is exchanged in the query', async () => {
    const { refreshToken } = await logIn();
    await refresh(refreshToken);
    const [exchange, renewal] = fake.pageRequests.filter(({ method }) => method === 'POST');
    expect(exchange?.query.get('client_secret')).to.equal(clientSecret);
    expect([...(renewal?.query.keys() ?? [])]).to.deep.equal([]);
    expect(renewal?.form.get('client_secret')).to.equal(clientSecret);
  });

  it('stay valid, without a refresh token, if they do not end in this app', async () => {
    const login = await logIn({ tokensEnd: false });
    expect(login).to.include({ expiresIn: undefined, refreshToken: undefined });
  });

  it('are revoked one by one, and are unknown afterwards', async () => {
    const { accessToken, refreshToken } = await logIn();
    expect(await outcomeOf(revoke({ accessToken, refreshToken }))).to.equal('ok');
    expect(await lookUp(accessToken)).to.equal('token_invalid');
    expect(await outcomeOf(revoke({ accessToken }))).to.equal('token_invalid');
    endpoint = { ...endpoint, clientSecret: new Secret('another') };
    expect(await outcomeOf(revoke({ accessToken }))).to.equal('client_refused');
  });
});
