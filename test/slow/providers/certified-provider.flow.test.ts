import { expect } from 'chai';
import { FakeBrowser, type Page } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectUser } from '../../harness/expect/expectations.ts';
import { expectFailedVisit, expectFailure } from '../../harness/expect/failures.ts';
import {
  type CertifiedProvider,
  type CertifiedProviderOptions,
  recordOf,
  signIn,
  startCertifiedProvider,
} from '../../harness/provider/certified-provider.ts';
import {
  type Client,
  callbackPath,
  loginPath,
  type Relay,
  redirectUri,
  useRelays,
} from '../../harness/relay/relay-under-test.ts';

const newClient = () => ({ clientId: 'client-1', clientSecret: canary('secret') });

/** Characters with a meaning in a form, in a header or in both. */
const punctuation = `:%+ &=%41%zz/?#"'<>()[]{}|\\^~\`!$*,;@`;

describe('oidc-provider, found by discovery', () => {
  const startRelay = useRelays();
  let provider: CertifiedProvider;
  let relay: Relay;

  /** Starts provider and relay. The default configuration is the registered client. */
  async function start(
    options: CertifiedProviderOptions,
    flags: Record<string, string> | ((issuer: string) => Record<string, string>) = {},
    client: Client = options.client,
  ): Promise<void> {
    provider = await startCertifiedProvider(options);
    const { issuer } = provider;
    const more = typeof flags === 'function' ? flags(issuer) : flags;
    relay = await startRelay({ client, flags: { issuer, ...more } });
  }

  async function logIn(browser: FakeBrowser, login = 'ada'): Promise<Page> {
    return await signIn(browser, await browser.visit(loginPath), login);
  }

  /** Logs in and looks the user up with the token. */
  async function expectLogin(browser: FakeBrowser): Promise<void> {
    const { url } = await logIn(browser);
    expect([...url.searchParams.keys()]).to.deep.equal(['access_token']);
    const answer = await relay.userOf(url.searchParams.get('access_token') ?? '');
    expect(expectUser(answer)).to.deep.equal(recordOf('ada'));
  }

  describe('logs in', () => {
    afterEach(() => provider.close());

    const dialects = {
      basic: { method: 'client_secret_basic', credentials: [] },
      body: { method: 'client_secret_post', credentials: ['client_id', 'client_secret'] },
    } as const;

    for (const [dialect, pkce, verifier, flags] of [
      ['basic', 'required', ['code_verifier'], {}],
      ['body', 'required', ['code_verifier'], {}],
      ['basic', 'unadvertised', ['code_verifier'], {}],
      ['body', 'optional', [], { pkce: 'off' }],
    ] as const) {
      it(`with a token request by ${dialect} and PKCE ${pkce}`, async () => {
        const { method, credentials } = dialects[dialect];
        await start({ client: newClient(), clientAuthentication: [method], pkce }, flags);
        const browser = new FakeBrowser(() => relay);
        await expectLogin(browser);

        const request = browser.visited(`${provider.issuer}/auth`).searchParams;
        const challenged = verifier.length > 0;
        expect(request.get('code_challenge_method')).to.equal(challenged ? 'S256' : null);
        expect(provider.tokenRequests).to.deep.equal([
          {
            authorization: dialect === 'basic' ? 'Basic' : undefined,
            parameters: [...credentials, 'code', ...verifier, 'grant_type', 'redirect_uri'],
          },
        ]);
      });
    }

    for (const [dialect, { method }] of Object.entries(dialects)) {
      it(`with an id and a secret full of punctuation, sent by ${dialect}`, async () => {
        const clientSecret = `${punctuation}${canary('secret')}${punctuation}`;
        const client = { clientId: `${punctuation}1${punctuation}`, clientSecret };
        await start({ client, clientAuthentication: [method] });
        await expectLogin(new FakeBrowser(() => relay));
      });
    }

    it('with the configured dialect, if the provider accepts several', async () => {
      const clientAuthentication = ['client_secret_basic', 'client_secret_post'] as const;
      await start({ client: newClient(), clientAuthentication }, { 'token-request': 'body' });
      await expectLogin(new FakeBrowser(() => relay));
      expect(provider.tokenRequests[0]?.authorization).to.equal(undefined);
    });
  });

  describe('does not log in', () => {
    afterEach(() => provider.close());

    it('a client with a wrong secret: the client is refused', async () => {
      const client = newClient();
      await start({ client }, {}, { ...client, clientSecret: canary('secret') });
      expectFailedVisit(await logIn(new FakeBrowser(() => relay)), 'client_refused');
      const line = await relay.requestLine('client_refused');
      expect(line).to.include({ level: 'warn', status: 400, providerError: 'invalid_client' });
      expect(line['provider']).to.include({ endpoint: 'token', outcome: 'answered', status: 401 });
    });

    it('a client that sends its secret in another place: the token is refused', async () => {
      await start({ client: newClient() }, { 'token-request': 'query' });
      expectFailedVisit(await logIn(new FakeBrowser(() => relay)), 'token_refused');
    });

    it('a client with another redirect URI: the provider shows its own error page', async () => {
      await start({ client: { ...newClient(), redirectUri: `${redirectUri}/other` } });
      const page = await new FakeBrowser(() => relay).visit(loginPath);
      expect(page.url.origin).to.equal(provider.issuer);
      expect(page.status).to.equal(400);
      expect(page.headers['content-type']).to.contain('text/html');
      expect(`${page.body}`).to.contain('invalid_redirect_uri');
      expect(provider.tokenRequests).to.deep.equal([]);
    });

    it('a person without a session if the authorize URL has prompt=none', async () => {
      const authorizeUrl = (issuer: string) => ({ 'authorize-url': `${issuer}/auth?prompt=none` });
      await start({ client: newClient() }, authorizeUrl);
      const page = await new FakeBrowser(() => relay).visit(loginPath);
      expect(page.url.searchParams.get('error')).to.equal('login_required');
      const detail =
        'The provider did not authorize the login (login_required). Start the login again.';
      expectFailedVisit(page, 'authorization_refused', detail);
      const line = await relay.requestLine('authorization_refused');
      expect(line).to.include({ level: 'warn', providerError: 'login_required' });
    });
  });

  describe('with PKCE optional', () => {
    before(async () => await start({ client: newClient() }));
    after(() => provider.close());

    it('logs two people in at the same time, each to their own account', async () => {
      const [one, other] = [new FakeBrowser(() => relay), new FakeBrowser(() => relay)];
      const pages = [await one.visit(loginPath), await other.visit(loginPath)] as const;
      const ends = [await signIn(other, pages[1], 'grace'), await signIn(one, pages[0], 'ada')];
      const tokens = ends.map(({ url }) => url.searchParams.get('access_token') ?? '');
      const records = await Promise.all(tokens.map((token) => relay.userOf(token)));
      expect(records.map(expectUser)).to.deep.equal([recordOf('grace'), recordOf('ada')]);
    });

    it('reports that a person cancelled', async () => {
      const browser = new FakeBrowser(() => relay);
      const loginPage = await browser.visit(loginPath);
      expectFailedVisit(await browser.visit(`${loginPage.url}/abort`), 'access_denied');
    });

    it('refuses a token that it did not issue', async () => {
      expectFailure(await relay.userOf('another'), 'token_invalid');
    });

    it('promises iss: an answer of another issuer is refused before the code is spent', async () => {
      const browser = new FakeBrowser(() => relay);
      const spent = provider.tokenRequests.length;
      browser.detour = ({ pathname, searchParams }) => {
        if (pathname === callbackPath) searchParams.set('iss', 'https://evil.example');
      };
      expectFailedVisit(await logIn(browser), 'issuer_mismatch');
      expect(provider.tokenRequests).to.have.length(spent);
    });

    it('promises iss: a plain client without it is refused, too', async () => {
      const spent = provider.tokenRequests.length;
      expectFailure(await relay.get(`${callbackPath}?code=any`), 'issuer_missing');
      expect(provider.tokenRequests).to.have.length(spent);
    });
  });
});
