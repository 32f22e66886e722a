import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { callback, FakeBrowser, navigation } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import {
  encoded,
  issuer,
  logInTo,
  oauthStart,
  openStart,
  type Parameters,
  redirectUri,
} from '../harness/login/oauth-front-end.ts';
import { callbackPath, frontendOrigin, loginPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

/** Checks for an error at the redirect URI of the front end, and that no login is started. */
function expectErrorAt(page: string, answer: Answer, error: string): URLSearchParams {
  const { origin, pathname, searchParams } = expectRedirect(answer);
  expect(origin + pathname).to.equal(page);
  expect(searchParams.get('error')).to.equal(error);
  expect(searchParams.get('iss')).to.equal(issuer);
  expect(searchParams.get('request_id')).to.equal(answer.headers['x-request-id']);
  expect(searchParams.get('error_description')).to.match(/\w+ \w+/);
  expect(setCookies(answer)).to.deep.equal([]);
  return searchParams;
}

describe('the start of a login with an OAuth request', () => {
  const underTest = relayUnderTest({ scope: 'read:user repo' });
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = new FakeBrowser(underTest);
  });

  it("shows the provider neither the front end's challenge nor its state", async () => {
    const start = oauthStart();
    const { href } = expectRedirect(await openStart(browser, start));
    expect(href).not.to.contain(start.state);
    expect(href).not.to.contain(`${start.parameters['code_challenge']}`);
  });

  it('requests the narrower scope of the front end from the provider', async () => {
    const request = expectRedirect(await openStart(browser, oauthStart({ scope: 'repo' })));
    expect(request.searchParams.get('scope')).to.equal('repo');
  });

  const noChallenge = { code_challenge: undefined, code_challenge_method: undefined };
  for (const [fault, changes, error = 'invalid_request'] of [
    ['has no challenge', noChallenge],
    ['has a plain challenge', { code_challenge_method: 'plain' }],
    ['names no challenge method, which means plain', { code_challenge_method: undefined }],
    ['has a challenge that is not a SHA-256', { code_challenge: 'short' }],
    ['has two challenges', { code_challenge: ['a', 'b'] }],
    ['has no response type', { response_type: undefined }],
    ['requests a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['requests a code and a token', { response_type: 'code token' }, 'unsupported_response_type'],
    ['requests the response in a fragment', { response_mode: 'fragment' }],
    ['requests more scope than configured', { scope: 'repo admin:org' }, 'invalid_scope'],
    ['has a scope with two spaces', { scope: 'repo  read:user' }, 'invalid_scope'],
    ['has two scopes', { scope: ['repo', 'repo'] }],
  ] as [fault: string, changes: Parameters, error?: string][]) {
    it(`goes back to the front end with ${error} if the request ${fault}`, async () => {
      const start = oauthStart(changes);
      const answer = await openStart(browser, start);
      expect(expectErrorAt(redirectUri, answer, error).get('state')).to.equal(start.state);
    });
  }

  it('says that it requires PKCE if there is no challenge', async () => {
    const answer = await openStart(browser, oauthStart(noChallenge));
    const response = expectErrorAt(redirectUri, answer, 'invalid_request');
    expect(response.get('error_description')).to.contain('requires PKCE');
  });

  for (const [fault, state] of Object.entries({
    'has 2,049 characters': 's'.repeat(2049),
    'is given twice': ['a', 'b'],
  })) {
    it(`goes back without a state if that ${fault}`, async () => {
      const answer = await openStart(browser, oauthStart({ state }));
      expect(expectErrorAt(redirectUri, answer, 'invalid_request').has('state')).to.equal(false);
    });
  }

  const unknown: Readonly<Record<string, Parameters>> = {
    'an empty client_id': { client_id: '' },
    'an unknown client_id': { client_id: 'other' },
    'a client_id in other case': { client_id: 'App' },
    'two client_ids': { client_id: ['app', 'app'] },
    'two redirect URIs': { redirect_uri: [redirectUri, redirectUri] },
    'a foreign redirect URI': { redirect_uri: 'https://evil.example/' },
    'another path': { redirect_uri: `${frontendOrigin}/other` },
    'another port': { redirect_uri: `${frontendOrigin}:8443/` },
    'plain http': { redirect_uri: 'http://app.example/' },
    'a user name': { redirect_uri: 'https://app.example@evil.example/' },
    'a user name before the right host': { redirect_uri: 'https://evil@app.example/' },
    'a fragment': { redirect_uri: `${redirectUri}#x` },
    'a query': { redirect_uri: `${redirectUri}?x=1` },
    'a longer host': { redirect_uri: 'https://app.example.evil.example/' },
    'a script': { redirect_uri: 'javascript:alert(1)//app.example/' },
  };
  for (const [what, changes] of Object.entries(unknown)) {
    it(`is refused without a redirect with ${what}, by JSON for programs and a page for people`, async () => {
      const path = `${loginPath}?${encoded(oauthStart(changes).parameters)}`;
      const detail = expectError(await underTest().get(path), 400);
      expect(detail).to.match(/client_id|redirect_uri/);
      const page = await browser.open(path, { headers: navigation });
      expect(page.headers).not.to.have.property('location');
      const { detail: shown, links } = expectFailurePage(page, 400);
      expect(shown).to.match(/client_id|redirect_uri/);
      expect(shown).not.to.include('pages of this front end');
      // A login of the contract would put a token into the address, but this page expects a code.
      expect(links).to.deep.equal({ [`Back to ${new URL(frontendOrigin).host}`]: redirectUri });
    });
  }

  for (const name of ['client_id', 'redirect_uri']) {
    it(`needs no ${name}, because there is only one`, async () => {
      const start = oauthStart({ [name]: undefined });
      const { location } = await logInTo(browser, underTest(), start);
      expect(location.href.startsWith(`${redirectUri}?code=`)).to.equal(true);
      expect(location.searchParams.get('state')).to.equal(start.state);
    });
  }

  it('does not change a start without PKCE, whatever other parameters it has', async () => {
    const other = 'client_id=other&redirect_uri=https://evil.example/';
    const { origin } = expectRedirect(await browser.open(`${loginPath}?${other}`));
    expect(origin).to.equal(underTest().provider.origin);
  });
});

for (const [which, flags, scope, error] of [
  ['without a configured scope', {}, 'repo', 'invalid_scope'],
  ['with --state-check off', { 'state-check': 'off' }, undefined, 'unauthorized_client'],
] as const) {
  describe(`an OAuth request to a relay ${which}`, () => {
    const underTest = relayUnderTest(flags);

    it(`goes back with ${error}${scope ? ' if it requests one' : ''}`, async () => {
      const answer = await openStart(new FakeBrowser(underTest), oauthStart({ scope }));
      expectErrorAt(redirectUri, answer, error);
    });
  });
}

describe('a relay for pages on this machine', () => {
  const configuredOrigin = 'http://localhost:5173';
  const underTest = relayUnderTest({ origin: configuredOrigin });

  const startFrom = (page: string, redirect_uri: string | undefined, headers = navigation) => {
    const path = `${loginPath}?${encoded(oauthStart({ redirect_uri }).parameters)}`;
    const from: [string, string] = ['Referer', `${page}/posts/1?draft=secret`];
    return underTest().send({ path, headers: [...headers, from] });
  };

  it('tells a page at another port or name, and the operator, where the front end is', async () => {
    const otherName = 'http://127.0.0.1:5173';
    for (const page of ['http://localhost:5174', otherName]) {
      const own = page === otherName ? [`${configuredOrigin}/`] : [];
      for (const end of [`${page}/`, undefined, ...own]) {
        const { heading, detail } = expectFailurePage(await startFrom(page, end), 400);
        expect(heading).to.equal('Another address is expected');
        expect(detail).to.include(`page at ${page}, but its front end is ${configuredOrigin}.`);
      }
      expect(expectError(await startFrom(page, `${page}/`, []), 400)).to.include(
        'The pages of this front end are at http://localhost:5173.',
      );
    }
    // A server of that origin may have sent the browser here.
    expectRedirect(await startFrom('http://localhost:3000', `${configuredOrigin}/`));
    const msg = 'login started by a page of another origin';
    const line = await underTest().process.logLine((one) => one['msg'] === msg);
    const origins = { origin: 'http://localhost:5174', configuredOrigin };
    expect(line).to.include({ level: 'warn', ...origins });
  });
});

describe('a relay with --token-delivery code', () => {
  const pages = [`${frontendOrigin}/signed-in?theme=dark`, `${frontendOrigin}/other`];
  const underTest = relayUnderTest({ 'token-delivery': 'code', 'redirect-uri': pages.join(' ') });

  it('refuses a start without PKCE, in place', async () => {
    expect(expectError(await underTest().get(loginPath), 400)).to.contain('code_challenge');
  });

  it('links to the front end on its failure page, and not to a start that it refuses', async () => {
    const start = oauthStart({ redirect_uri: pages[1] });
    const { searchParams } = expectRedirect(await openStart(new FakeBrowser(underTest), start));
    const lost = callback({ code: 'a', state: `${searchParams.get('state')}x` });
    for (const path of [loginPath, callbackPath, lost, callback({ error: 'access_denied' })]) {
      const page = await underTest().send({ path, headers: navigation });
      const { links } = expectFailurePage(page, 400);
      expect(links, path).to.deep.equal({
        [`Back to ${new URL(frontendOrigin).host}`]: `${frontendOrigin}/`,
      });
    }
  });

  it('needs a redirect_uri, because there are several', async () => {
    const start = oauthStart({ redirect_uri: undefined });
    const answer = await underTest().get(`${loginPath}?${encoded(start.parameters)}`);
    expect(expectError(answer, 400)).to.contain('redirect_uri');
  });

  it('keeps the query of the redirect URI', async () => {
    const start = oauthStart({ redirect_uri: pages[0] });
    const { location } = await logInTo(new FakeBrowser(underTest), underTest(), start);
    expect(location.href.startsWith(`${pages[0]}&code=`)).to.equal(true);
    expect([...location.searchParams.keys()]).to.deep.equal(['theme', 'code', 'state', 'iss']);
  });
});
