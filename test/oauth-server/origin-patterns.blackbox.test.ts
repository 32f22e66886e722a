import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { newProofKey } from '../harness/client/proof.ts';
import {
  expectOAuthError,
  logInTo,
  oauthStart,
  openStart,
  type Parameters,
  redemption,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { OAuthPage, tokensOf } from '../harness/login/oauth-page.ts';
import { sealRefreshToken } from '../harness/login/sealed-grants.ts';
import { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { keyFile, keyLine, type Relay, useRelays } from '../harness/relay/relay-under-test.ts';

/** For each pattern, what it allows, and what it does not allow. */
const patterns = {
  'https://*.preview.example.com': {
    allowed: ['https://pull-7.preview.example.com', 'https://main.preview.example.com'],
    foreign: [
      'https://preview.example.com',
      'https://a.b.preview.example.com',
      'https://pull-7.preview.example.com.evil.example',
      'https://pull-7.preview.example.com:8443',
      'http://pull-7.preview.example.com',
      'https://*.preview.example.com',
    ],
  },
  'http://localhost:*': {
    allowed: ['http://localhost:5173', 'http://localhost'],
    foreign: ['https://localhost:5173', 'http://127.0.0.1:5173', 'http://localhost.evil.example', 'http://localhost:*'],
  },
};

for (const [pattern, { allowed, foreign }] of Object.entries(patterns)) {
  describe(`a front end at ${pattern}`, () => {
    const startRelay = useRelays();
    let provider: RefreshingProvider;
    let relay: Relay;

    before('start a provider and a relay', async () => {
      provider = await RefreshingProvider.start();
      const flags = {
        ...provider.flags,
        origin: pattern,
        'token-delivery': 'code',
        'redirect-uri': `${pattern}/signed-in?theme=dark`,
        'refresh-tokens': 'bearer',
        'key-file': await keyFile(),
      };
      relay = await startRelay({ client: provider.registration, flags });
    });
    after('stop the provider', async () => await provider.stop());

    const startAt = (origin: string) => oauthStart({ redirect_uri: `${origin}/signed-in?theme=dark` });
    const browser = () => new FakeBrowser(() => relay);

    /** Logs in at an origin. Returns what redeems the code there. */
    async function redemptionAt(origin: string): Promise<Parameters> {
      const start = startAt(origin);
      const { redirect_uri } = start.parameters;
      const response = await logInTo(browser(), { provider }, start);
      expect(response.location.href.startsWith(`${redirect_uri}&code=`)).to.equal(true);
      return redemption(response, { redirect_uri });
    }

    it('logs in at each of its origins, and redeems there', async () => {
      for (const origin of allowed) {
        const answer = await requestToken(relay, await redemptionAt(origin), [], { origin });
        expect(answer.headers['access-control-allow-origin']).to.equal(origin);
        expect(answer.headers.vary).to.contain('Origin');
        expect(provider.accepts(tokensOf(answer).accessToken)).to.equal(true);
      }
    });

    it('logs in nowhere else', async () => {
      // The `*` stands for many pages, so a request has to name its redirect URI.
      const unnamed = oauthStart({ redirect_uri: undefined });
      for (const start of [...foreign.map(startAt), unnamed]) {
        const { status, headers, body } = await openStart(browser(), start);
        expect(status).to.equal(400);
        expect(headers).to.not.have.property('location');
        // There is no single page to go back to.
        expect(`${body}`).to.contain('Login failed').and.not.contain('Back to');
      }
    });

    it('redeems nowhere else', async () => {
      const [own = ''] = allowed;
      const parameters = await redemptionAt(own);
      for (const origin of foreign) {
        const answer = await requestToken(relay, parameters, [], { origin });
        expectOAuthError(answer, 'invalid_request', 403);
        expect(answer.headers).to.not.have.property('access-control-allow-origin');
      }
    });

    it('gets refresh tokens only for a key, even with --refresh-tokens bearer', async () => {
      const [origin = ''] = allowed;
      const key = await newProofKey();
      for (const [page, isGiven] of [
        [new OAuthPage(relay, provider, key), true],
        [new OAuthPage(relay, provider, undefined), false],
      ] as const) {
        const { refreshToken } = tokensOf(await page.request(await redemptionAt(origin), { origin }));
        expect(refreshToken !== '').to.equal(isGiven);
        if (isGiven) tokensOf(await page.refresh(refreshToken, { origin }));
      }
      const frontEnd = `app ${pattern}`;
      const unbound = sealRefreshToken(provider, keyLine, { thumbprint: undefined, frontEnd });
      const page = new OAuthPage(relay, provider, undefined);
      expectOAuthError(await page.refresh(unbound, { origin }), 'invalid_grant');
    });
  });
}
