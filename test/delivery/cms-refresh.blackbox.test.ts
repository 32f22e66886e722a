import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { canary, remember } from '../harness/expect/canaries.ts';
import { expectCmsPopup, resultOf } from '../harness/expect/cms-popup.ts';
import { expectError } from '../harness/expect/expectations.ts';
import { expectOAuthError, requestToken } from '../harness/login/oauth-front-end.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import { keyFile, loginPath, type Relay, secretFile } from '../harness/relay/relay-under-test.ts';

const frontEnds = `
front-ends:
  blog: { origin: https://blog.example, token-delivery: cms, refresh-tokens: bearer, scope: repo }
  docs: { origin: https://docs.example, token-delivery: cms, refresh-tokens: bearer, scope: repo }
  wiki: { origin: https://wiki.example, token-delivery: cms, scope: repo }
  news:
    origin: [https://news.example, 'https://*.preview.news.example', 'http://localhost:*']
    token-delivery: cms
    refresh-tokens: bearer
    scope: repo
  app: { origin: https://app.example }
`;
const blog = 'https://blog.example';
const starts = ['/auth', loginPath, `${loginPath}/blog`] as const;
const [, , start] = starts;

interface Request {
  readonly path?: string;
  readonly origin?: string | undefined;
  readonly type?: string;
  /** Further members of the body. */
  readonly more?: object;
}

describe('a refresh of Sveltia CMS', () => {
  const { startRelay, underTest } = useRefreshingRelay(async () => ({
    'key-file': await keyFile(),
    provider: 'github',
    origin: undefined,
    config: await secretFile(frontEnds),
  }));
  let provider: RefreshingProvider;
  let relay: Relay;
  before(() => {
    ({ provider, relay } = underTest());
  });

  /** Logs in, and returns the content of the success message. */
  async function logIn(path: string = start): Promise<Record<string, string>> {
    const browser = new FakeBrowser(() => relay);
    const start = `${path}?provider=github&site_id=x`;
    const answer = await browser.open(await browser.consent(provider, start));
    const content = Object(resultOf(expectCmsPopup(answer, 200), 'github', 'success'));
    remember(content.refreshToken ?? content.token);
    return content;
  }

  /** Sends a refresh as Sveltia CMS does. */
  async function refresh(token: unknown, request: Request = {}): Promise<Answer> {
    const { path = start, type = 'application/json', more = {} } = request;
    // A test may send no such header.
    const origin = 'origin' in request ? request.origin : blog;
    const sent = { grant_type: 'refresh_token', client_id: '', refresh_token: token, ...more };
    const body = JSON.stringify(sent);
    const headers: [string, string][] = [
      ['Content-Type', type],
      ['Content-Length', `${body.length}`],
    ];
    if (origin !== undefined) headers.push(['Origin', origin]);
    return await relay.send({ method: 'POST', path, headers, body });
  }

  function expectTokens({ status, headers, body }: Answer): Record<string, string> {
    expect(status, `${body}`).to.equal(200);
    expect(headers['access-control-allow-origin']).to.equal(blog);
    expect(headers['cache-control']).to.equal('no-store');
    const tokens = JSON.parse(`${body}`);
    expect(provider.accepts(tokens.access_token)).to.equal(true);
    remember(tokens.refresh_token);
    return tokens;
  }

  for (const path of starts) {
    it(`is answered at ${path}, where the login started, with both tokens`, async () => {
      const { token, refreshToken, ...others } = await logIn(path);
      expect(others).to.deep.equal({ provider: 'github' });
      const first = expectTokens(await refresh(refreshToken, { path }));
      expect(first['access_token']).not.to.equal(token);
      expectTokens(await refresh(first['refresh_token'], { path }));
    });
  }

  it('has a preflight, which only pages of front ends pass', async () => {
    const preflight = async (origin: string) => {
      const { headers } = await relay.preflight(start, origin, 'content-type');
      return headers['access-control-allow-origin'];
    };
    expect(await preflight(blog)).to.equal(blog);
    expect(await preflight('https://evil.example')).to.equal(undefined);
  });

  it('is refused to another origin, to no origin, and to another front end', async () => {
    const { refreshToken } = await logIn();
    const docs = { origin: 'https://docs.example', path: `${loginPath}/docs` };
    provider.calls.length = 0;
    for (const origin of ['https://docs.example', 'https://evil.example', 'null', undefined]) {
      const answer = await refresh(refreshToken, { origin });
      expectOAuthError(answer, 'invalid_request', 403);
      expect(answer.headers).not.to.have.property('access-control-allow-origin');
    }
    expectOAuthError(await refresh(refreshToken, docs), 'invalid_grant');
    const named = await refresh(refreshToken, { ...docs, more: { client_id: 'blog' } });
    expectOAuthError(named, 'invalid_client');
    const ofOAuth = { grant_type: 'refresh_token', client_id: 'app', refresh_token: refreshToken };
    expectOAuthError(await requestToken(relay, ofOAuth), 'invalid_grant');
    expect(provider.calls).to.deep.equal([]);
  });

  it('is refused as a form, and as text, which pages can send without a preflight', async () => {
    const { refreshToken } = await logIn();
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data']) {
      expectOAuthError(await refresh(refreshToken, { type }), 'invalid_request', 415);
    }
  });

  it('is answered at each address of a CMS, and at no other address', async () => {
    const path = `${loginPath}/news`;
    const addresses = ['https://news.example', 'https://pr-7.preview.news.example', 'http://localhost:1313'];
    for (const origin of addresses) {
      const { refreshToken } = await logIn(path);
      const answer = await refresh(refreshToken, { path, origin });
      expect([answer.status, answer.headers['access-control-allow-origin']], origin).to.deep.equal([200, origin]);
      remember(JSON.parse(`${answer.body}`).refresh_token);
    }
    const { refreshToken } = await logIn(path);
    const others = `https://preview.news.example https://a.b.preview.news.example https://news.example.evil.example
      http://localhost.evil.example:1313 http://127.0.0.1:1313 http://news.example null ${blog}`.split(/\s+/);
    for (const origin of [...others, undefined]) {
      const answer = await refresh(refreshToken, { path, origin });
      expectOAuthError(answer, 'invalid_request', 403);
      expect(answer.headers).not.to.have.property('access-control-allow-origin');
    }
  });

  it('redeems no code', async () => {
    const { refreshToken } = await logIn();
    for (const grant_type of ['authorization_code', 'client_credentials']) {
      const more = { grant_type, code: canary('code'), code_verifier: 'v'.repeat(43) };
      expectOAuthError(await refresh(refreshToken, { more }), 'unsupported_grant_type');
    }
  });

  it('is refused with the access token, and with no token', async () => {
    const { token, refreshToken } = await logIn();
    expectOAuthError(await refresh(token), 'invalid_grant');
    for (const none of ['', undefined, 1, [refreshToken]]) {
      expectOAuthError(await refresh(none), 'invalid_request');
    }
  });

  it('does not exist at a CMS without bearer tokens, nor at another front end', async () => {
    const { refreshToken } = await logIn();
    expect(await logIn(`${loginPath}/wiki`)).to.have.all.keys('token', 'provider');
    for (const name of ['wiki', 'app']) {
      const at = { origin: `https://${name}.example`, path: `${loginPath}/${name}` };
      const answer = await refresh(refreshToken, at);
      expectError(answer, 405);
      expect(answer.headers['allow']).to.equal('GET, OPTIONS');
    }
    const answer = await relay.send({ method: 'PUT', path: start });
    expect([answer.status, answer.headers['allow']]).to.deep.equal([405, 'GET, POST, OPTIONS']);
  });

  it('is counted by the rate limit', async () => {
    const client = provider.registration;
    const limited = await startRelay({
      client,
      flags: {
        ...provider.flags,
        'key-file': await keyFile(),
        provider: 'github',
        scope: 'repo',
        'token-delivery': 'cms',
        'refresh-tokens': 'bearer',
        'rate-limit': '1',
      },
    });
    const post = () => limited.send({ method: 'POST', path: '/auth', headers: [['Origin', 'https://app.example']] });
    expectOAuthError(await post(), 'invalid_request', 415);
    expectOAuthError(await post(), 'temporarily_unavailable', 429);
  });
});
