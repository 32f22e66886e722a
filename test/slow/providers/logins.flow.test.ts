import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../../src/failures/relay-error.ts';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectUser } from '../../harness/expect/expectations.ts';
import { expectFailedVisit, expectFailure } from '../../harness/expect/failures.ts';
import { ForwardProxy } from '../../harness/provider/forward-proxy.ts';
import type { Pages } from '../../harness/provider/pages.ts';
import { type Serving, serveTls } from '../../harness/provider/serve.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import {
  type Client,
  callbackPath,
  loginPath,
  type Relay,
  redirectUri,
  registration,
  useRelays,
} from '../../harness/relay/relay-under-test.ts';
import { type Certificate, issueCertificate } from '../../harness/system/certificate.ts';
import { github, githubUser } from '../../providers/fakes/github.ts';
import { slack, slackUser } from '../../providers/fakes/slack.ts';

interface Example {
  readonly preset: string;
  readonly documented: (client: Client) => Pages;
  readonly user: string;
  readonly authorize: string;
  readonly token: string;
  readonly lookup: string;
  /** Whether it refuses a code or secret with 200 instead of an error status. */
  readonly refusesWith200?: true;
  readonly pkce?: 'off';
  /** Its issuer, if the preset knows it. */
  readonly issuer?: string;
}

const examples: readonly Example[] = [
  {
    preset: 'github',
    documented: github,
    user: githubUser,
    authorize: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    lookup: 'https://api.github.com/user',
    refusesWith200: true,
    issuer: 'https://github.com/login/oauth',
  },
  {
    preset: 'slack',
    documented: slack,
    user: slackUser,
    authorize: 'https://slack.com/openid/connect/authorize',
    token: 'https://slack.com/api/openid.connect.token',
    lookup: 'https://slack.com/api/openid.connect.userInfo',
    refusesWith200: true,
    pkce: 'off',
    issuer: 'https://slack.com',
  },
];

describe('a provider that behaves as documented', () => {
  const startRelay = useRelays();
  let certificate: Certificate;

  before('certify every host', async () => {
    const hosts = examples.flatMap(({ token, lookup }) => [hostOf(token), hostOf(lookup)]);
    certificate = await issueCertificate(...new Set(hosts));
  });
  after(() => certificate.remove());

  for (const example of examples) {
    const { preset, documented, user, refusesWith200 } = example;

    describe(`${preset}, configured only by the name of its preset`, () => {
      const client = { clientId: 'client-1', clientSecret: canary('secret') };
      let provider: StrictProvider;
      let https: Serving;
      let proxy: ForwardProxy;
      let relay: Relay;
      let browser: FakeBrowser;

      before('start the provider and the relay', async () => {
        provider = await StrictProvider.start(registration());
        provider.pages = documented(client);
        https = await serveTls(certificate.key + certificate.cert, provider.listener);
        const hosts = [example.token, example.lookup].map((url) => `${hostOf(url)}:443`);
        proxy = await ForwardProxy.start(Object.fromEntries(hosts.map((host) => [host, https.port])));
        // The relay reaches only hosts that the proxy knows.
        relay = await startRelay({
          client,
          flags: { provider: preset },
          env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificate.authorityFile },
        });
      });
      beforeEach(() => {
        const places = { [new URL(example.authorize).origin]: provider.port };
        browser = new FakeBrowser(() => relay, { places });
      });
      after(async () => {
        await proxy.close();
        await https.close();
        await provider.stop();
      });

      function expectRequest(address: string): void {
        const { pathname, host } = new URL(address);
        const found = provider.pageRequests.findLast(({ url }) => url.pathname === pathname);
        expect(found?.url.host, address).to.equal(host);
      }

      it('logs in, and passes the record of the user on byte for byte', async () => {
        const { url, body } = await browser.visit(loginPath);
        expect([...url.searchParams.keys()], `${body}`).to.deep.equal(['access_token']);
        const answer = await relay.userOf(url.searchParams.get('access_token') ?? '');
        expectUser(answer);
        expect(`${answer.body}`).to.equal(user);
        expectRequest(example.token);
        expectRequest(example.lookup);
      });

      const method = example.pkce === 'off' ? null : 'S256';
      it(`gets ${method === null ? 'no' : 'a'} challenge`, async () => {
        await browser.visit(loginPath);
        const request = browser.visited(example.authorize).searchParams;
        expect(request.get('code_challenge_method')).to.equal(method);
      });

      /** A 200 without a token counts as an empty token, whatever else it contains. */
      function detailOf(code: FailureCode): string {
        const { detail } = new RelayError(code);
        const condition = refusesWith200 ? 'The access token is empty' : 'Token retrieval failed';
        return detail.replace('Token retrieval failed', condition);
      }

      it('refuses a code that it did not issue', async () => {
        const code = 'code_refused';
        expectFailure(await relay.get(`${callbackPath}?code=another`), code, detailOf(code));
        expect((await relay.requestLine(code))['providerError']).to.be.a('string');
      });

      it('refuses a wrong client secret', async () => {
        const { clientSecret } = client;
        client.clientSecret = canary('secret');
        try {
          const code = 'client_refused';
          expectFailedVisit(await browser.visit(loginPath), code, detailOf(code));
          expect((await relay.requestLine(code))['providerError']).to.be.a('string');
        } finally {
          client.clientSecret = clientSecret;
        }
      });

      it('refuses a token that it did not issue', async () => {
        expectFailure(await relay.userOf('another'), 'token_invalid');
      });

      if (example.issuer) {
        it('causes a failure if it sends the iss of another provider', async () => {
          browser.detour = ({ href, searchParams }) => {
            if (href.startsWith(redirectUri)) searchParams.set('iss', 'https://evil.example');
          };
          const asked = provider.pageRequests.length;
          expectFailedVisit(await browser.visit(loginPath), 'issuer_mismatch');
          const since = provider.pageRequests.slice(asked).map(({ method }) => method);
          expect(since, 'no token request').to.deep.equal(['GET']);
        });
      }
    });
  }
});

function hostOf(url: string): string {
  return new URL(url).hostname;
}
