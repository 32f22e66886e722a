import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { clearedCookies } from '../harness/browser/cookie-jar.ts';
import { FakeBrowser, navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectCmsPopup, resultOf } from '../harness/expect/cms-popup.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { encoded, oauthStart } from '../harness/login/oauth-front-end.ts';
import { sealLogin } from '../harness/login/sealed-login.ts';
import { failedCallbacks, key, openFailedCallback } from '../harness/provider/failed-callbacks.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
  secretFile,
  startRelay,
} from '../harness/relay/relay-under-test.ts';

const cmsStart = `${loginPath}?provider=github&site_id=blog.example&scope=repo`;

/** Expects that the popup hands over this failure, and names no other origin than the CMS's. */
function expectFailure(answer: Answer, status: number, detail: string | RegExp): void {
  const messages = expectCmsPopup(answer, status);
  expect(messages.origin).to.equal(frontendOrigin);
  expect(messages.greeting).to.equal('authorizing:github');
  const content = resultOf(messages, 'github', 'error');
  expect(content).to.have.all.keys('provider', 'message', 'error');
  const { provider, message, error } = Object(content);
  expect(provider).to.equal('github');
  expect(error).to.equal(message);
  if (typeof detail === 'string') expect(message).to.equal(detail);
  else expect(message).to.match(detail);
}

describe('a login with --token-delivery cms', () => {
  const underTest = relayUnderTest(async () => ({
    'key-file': await secretFile(key),
    'token-delivery': 'cms',
    provider: 'github',
    scope: 'repo user',
  }));
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = new FakeBrowser(underTest);
  });

  /** Logs in, and returns the answer to the callback. */
  const logIn = async (path = cmsStart, headers = navigation) =>
    await browser.open(await browser.consent(underTest().provider, path), { headers });

  it('ends with a page that hands the token to the origin of the CMS', async () => {
    const answer = await logIn();
    const messages = expectCmsPopup(answer, 200);
    expect(messages.origin).to.equal(frontendOrigin);
    expect(messages.greeting).to.equal('authorizing:github');
    const [code = ''] = underTest().provider.credentials('token');
    const token = underTest().provider.tokenFor(code);
    expect(resultOf(messages, 'github', 'success')).to.deep.equal({ token, provider: 'github' });
    expect(answer.headers).not.to.have.property('location');
    expect(clearedCookies(answer)).to.have.length(1);
  });

  it('ends with a page that no other page can read', async () => {
    const answer = await logIn(cmsStart, navigationWith('Origin', frontendOrigin));
    expectCmsPopup(answer, 200);
    expect(answer.headers).to.not.have.property('access-control-allow-origin');
  });

  for (const token of [
    '</script><script>alert(1)</script>',
    '<!--<script>',
    ']]>&lt;"\'`$\\',
    'line\nfeed\u2028separator\u2029',
    'ünïcödé 🙂',
  ]) {
    it(`hands over a token that looks like code: ${JSON.stringify(token)}`, async () => {
      underTest().provider.onToken = json({ access_token: token });
      const messages = expectCmsPopup(await logIn(), 200);
      const { token: given } = Object(resultOf(messages, 'github', 'success'));
      expect(given).to.equal(token);
    });
  }

  it('ignores site_id, and what the contract and OAuth call state', async () => {
    for (const more of ['&site_id=evil.example', '&state=mine', '&state=a&state=b', '&login=true']) {
      expectRedirect(await browser.open(cmsStart + more));
    }
    expect(expectCmsPopup(await logIn(`${loginPath}?site_id=x`), 200).origin).to.equal(frontendOrigin);
  });

  for (const [asked, requested] of [
    ['repo', 'repo'],
    ['user', 'user'],
    ['repo,user', 'repo user'],
    ['repo user', 'repo user'],
    ['repo,admin:org', 'repo'],
    ['public_repo', 'repo user'],
    ['', 'repo user'],
    [undefined, 'repo user'],
  ] as const) {
    it(`asks the provider for ${requested} if the CMS asks for ${asked}`, async () => {
      const path = asked === undefined ? loginPath : `${loginPath}?${encoded({ scope: asked })}`;
      const request = expectRedirect(await browser.open(path));
      expect(request.searchParams.get('scope')).to.equal(requested);
    });
  }

  for (const start of [loginPath, '/auth', '/auth/provider/app']) {
    it(`refuses another backend at ${start} without a popup message, because the other CMS would not listen`, async () => {
      for (const provider of ['gitlab', 'provider', '', 'github&provider=github']) {
        const answer = await browser.open(`${start}?provider=${provider}`);
        expect(answer.status).to.equal(400);
        expect(answer.body.toString()).to.contain(new RelayError('cms_backend_wrong').detail);
        expect(answer.body.toString()).not.to.contain('<script');
      }
      expectError(await underTest().get(`${start}?provider=gitlab`), 400);
    });

    it(`refuses OAuth requests at ${start} in place`, async () => {
      const { parameters } = oauthStart({ client_id: 'app', redirect_uri: `${frontendOrigin}/` });
      const answer = await underTest().get(`${start}?${encoded(parameters)}`);
      expect(expectError(answer, 400)).to.equal(new RelayError('client_unauthorized').detail);
      expect(answer.headers).not.to.have.property('location');
    });
  }

  describe('that fails', () => {
    for (const [kind, failing] of Object.entries(failedCallbacks)) {
      it(`hands over the failure if ${kind}`, async () => {
        const { failure, proved, detail, onToken, age = 0 } = failing;
        const { provider } = underTest();
        const login = sealLogin(provider, { key, age });
        const answered = await openFailedCallback(failing, login, browser, provider);
        const expected = onToken ? new RelayError(failure).onceSpent() : new RelayError(failure);
        expectFailure(answered, expected.status, detail ?? expected.detail);
        expect(answered.body.toString()).not.to.contain(login.state).and.not.to.contain(login.code);
        expect(clearedCookies(answered)).to.deep.equal(proved ? [login.cookie.name] : []);
      });
    }

    it('refuses a prefetch in place, at the start and at the callback', async () => {
      const headers = navigationWith('Sec-Purpose', 'prefetch');
      for (const start of [cmsStart, '/auth', '/auth/provider/app']) {
        const { detail } = expectFailurePage(await browser.open(start, { headers }), 503);
        expect(detail).to.match(/prefetch/);
      }
      const answered = await browser.finish(await browser.start(), { headers });
      expect(expectFailurePage(answered, 503).detail).to.match(/prefetch/);
      expect(answered.headers['retry-after']).to.equal('1');
    });

    it('does not quote the request', async () => {
      const payload = '</script><script>alert(1)</script>';
      const hostile = ['error', 'error_description', 'state', 'iss'].map((name) => [name, payload]);
      const query = new URLSearchParams([['code', canary('code')], ...hostile]);
      const answered = await browser.open(`${callbackPath}?${query}`);
      expectFailure(answered, 400, /\w/);
      expect(answered.body.toString()).not.to.contain('alert');
    });
  });

  it('hands over what goes wrong before the provider is known', async () => {
    const relay = await startRelay(async () => ({
      'token-delivery': 'cms',
      provider: 'github',
      'rate-limit': '1',
    }));
    try {
      const visitor = new FakeBrowser(() => relay);
      expectFailure(await visitor.open(callbackPath), 400, /removes the query/);
      const answered = await visitor.open(callbackPath);
      expectFailure(answered, 429, new RelayError('rate_limited').detail);
      expect(Number(answered.headers['retry-after'])).to.be.greaterThan(0);
    } finally {
      await relay.stop();
    }
  });
});
