import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectUser } from '../../harness/expect/expectations.ts';
import {
  type CertifiedProvider,
  type CertifiedProviderOptions,
  recordOf,
  signIn,
  startCertifiedProvider,
} from '../../harness/provider/certified-provider.ts';
import { loginPath, type Relay, useRelays } from '../../harness/relay/relay-under-test.ts';

const newClient = () => ({ clientId: 'client-1', clientSecret: canary('secret') });

/** Characters with a meaning in a form, in a header or in both. */
const punctuation = `:%+ &=%41%zz/?#"'<>()[]{}|\\^~\`!$*,;@`;

describe('oidc-provider, found by discovery', () => {
  const startRelay = useRelays();
  let provider: CertifiedProvider;
  let relay: Relay;

  /** Starts a provider, and a relay that is its client. */
  async function start(options: CertifiedProviderOptions, flags: Record<string, string> = {}): Promise<void> {
    provider = await startCertifiedProvider(options);
    const { issuer } = provider;
    relay = await startRelay({ client: options.client, flags: { issuer, ...flags } });
  }

  /** Logs in and looks the user up with the token. */
  async function expectLogin(browser: FakeBrowser): Promise<void> {
    const { url } = await signIn(browser, await browser.visit(loginPath), 'ada');
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
  });
});
