import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectUser } from '../harness/expect/expectations.ts';
import { expectFailedVisit, expectFailure } from '../harness/expect/failures.ts';
import {
  type MockProvider,
  type MockProviderOptions,
  startMockProvider,
} from '../harness/provider/mock-provider.ts';
import {
  type Client,
  loginPath,
  type Relay,
  redirectUri,
  useRelays,
} from '../harness/relay/relay-under-test.ts';

const newClient = () => ({ clientId: 'client-1', clientSecret: canary('secret') });

describe('oauth2-mock-server, found by discovery', () => {
  const startRelay = useRelays();
  let provider: MockProvider;
  let relay: Relay;

  async function start(
    options: MockProviderOptions,
    flags: Record<string, string> = {},
    client: Client = options.client,
  ): Promise<void> {
    provider = await startMockProvider(options);
    relay = await startRelay({ client, flags: { issuer: provider.issuer, ...flags } });
  }

  afterEach(() => provider.close());

  async function expectLogin(browser: FakeBrowser): Promise<void> {
    const { url } = await browser.visit(loginPath);
    expect([...url.searchParams.keys()]).to.deep.equal(['access_token']);
    const answer = await relay.userOf(url.searchParams.get('access_token') ?? '');
    expect(expectUser(answer)).to.deep.equal({ sub: 'johndoe' });
  }

  describe('logs in', () => {
    for (const { how, supported, flags, pkce, by } of [
      {
        how: 'by body where its metadata lists that alone',
        supported: ['client_secret_post'],
        flags: {},
        pkce: true,
        by: 'body',
      },
      {
        how: 'by basic where its metadata says nothing',
        supported: undefined,
        flags: {},
        pkce: true,
        by: 'basic',
      },
      {
        how: 'by body as configured, whatever its metadata lists',
        supported: ['none'],
        flags: { 'token-request': 'body', pkce: 'off' },
        pkce: false,
        by: 'body',
      },
    ]) {
      it(`with a token request ${how}, and ${pkce ? 'with' : 'without'} PKCE`, async () => {
        const metadata = {
          token_endpoint_auth_methods_supported: supported,
          code_challenge_methods_supported: undefined,
        };
        await start({ client: newClient(), metadata }, flags);
        const browser = new FakeBrowser(() => relay);
        await expectLogin(browser);
        const request = browser.visited(`${provider.issuer}/authorize`).searchParams;
        expect(request.has('code_challenge')).to.equal(pkce);
        expect(browser.visited(redirectUri).searchParams.has('iss')).to.equal(false);
        expect(provider.tokenRequests).to.deep.equal([
          {
            authorization: by === 'basic' ? 'Basic' : undefined,
            parameters: [
              ...(by === 'body' ? ['client_id', 'client_secret'] : []),
              'code',
              ...(pkce ? ['code_verifier'] : []),
              'grant_type',
              'redirect_uri',
            ],
          },
        ]);
      });
    }
  });

  describe('does not log in', () => {
    it('anyone if its metadata allows no client secret: 503, and the log says why', async () => {
      await start({ client: newClient() });
      const line = await relay.discoveryLine('failed');
      expect(line).to.include({ level: 'warn', reason: 'unsupported' });
      expect(line['explanation']).to.contain('client secret');
      expectFailedVisit(
        await new FakeBrowser(() => relay).visit(loginPath),
        'provider_unsupported',
      );
    });

    it('a client if the response names another issuer, even if iss was not promised', async () => {
      await start({ client: newClient() }, { 'token-request': 'body' });
      const browser = new FakeBrowser(() => relay);
      browser.detour = (url) => {
        if (url.href.startsWith(redirectUri)) url.searchParams.set('iss', 'https://evil.example');
      };
      expectFailedVisit(await browser.visit(loginPath), 'issuer_mismatch');
      expect(provider.tokenRequests).to.deep.equal([]);
      expectFailure(await relay.userOf('not-issued'), 'token_invalid');
    });
  });
});
