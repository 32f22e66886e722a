import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { FakeBrowser, granted, navigation } from '../harness/browser/fake-browser.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { encoded, oauthStart, redemption, requestToken } from '../harness/login/oauth-front-end.ts';
import { baseUrl, frontendOrigin, relayUnderTest } from '../harness/relay/relay-under-test.ts';

const path = '/oauth2/callback';
const callbackUrl = `${baseUrl}${path}`;

describe('a relay whose provider has a callback URL that cannot be changed', () => {
  const underTest = relayUnderTest(
    { 'callback-path': path, provider: 'github', 'error-delivery': 'redirect', 'rate-limit': '1000' },
    { redirectUri: callbackUrl },
  );
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = new FakeBrowser(underTest);
  });

  for (const word of ['provider', 'github']) {
    const issuer = `${baseUrl}/auth/${word}`;

    it(`announces it at the provider, receives it, and redeems the code with it, at /auth/${word}`, async () => {
      const request = expectRedirect(await browser.open(`/auth/${word}?state=own`));
      expect(request.searchParams.get('redirect_uri')).to.equal(callbackUrl);
      const callback = granted(underTest().provider, request);
      expect(callback.startsWith(`${callbackUrl}?code=`)).to.equal(true);
      const end = expectRedirect(await browser.open(callback));
      expect(end.searchParams.get('state')).to.equal('own');
      expect(end.searchParams.has('access_token')).to.equal(true);
    });

    it(`names the issuer of the path where an OAuth login began, and accepts the code only there: /auth/${word}`, async () => {
      const start = oauthStart();
      const request = expectRedirect(await browser.open(`/auth/${word}?${encoded(start.parameters)}`));
      const location = expectRedirect(await browser.open(granted(underTest().provider, request)));
      expect(location.searchParams.get('iss')).to.equal(issuer);
      const form = redemption({ start, location, code: location.searchParams.get('code') ?? '' });
      const other = word === 'github' ? 'provider' : 'github';
      expect((await requestToken(underTest(), form, [], { path: `/auth/${other}/token` })).status).to.equal(400);
      expect((await requestToken(underTest(), form, [], { path: `/auth/${word}/token` })).status).to.equal(200);
    });

    it(`says that a browser has forgotten the login if its cookies are lost, for logins at /auth/${word}`, async () => {
      // Longer than a state at the provider may be, so that a cookie holds it.
      const start = oauthStart({ state: 's'.repeat(1000) });
      const request = expectRedirect(await browser.open(`/auth/${word}?${encoded(start.parameters)}`));
      const callback = granted(underTest().provider, request);
      const answer = await new FakeBrowser(underTest).open(callback);
      expect(`${answer.body}${answer.headers.location}`).to.contain('state_unknown');
      const line = await underTest().process.logLine((one) => one['requestId'] === answer.headers['x-request-id']);
      expect(line).to.include({ outcome: 'state_unknown' });
    });

    it(`gets the provider's errors there, for logins at /auth/${word}`, async () => {
      const start = oauthStart();
      const request = expectRedirect(await browser.open(`/auth/${word}?${encoded(start.parameters)}`));
      const state = request.searchParams.get('state') ?? '';
      const query = new URLSearchParams({ error: 'access_denied', state });
      const location = expectRedirect(await browser.open(`${path}?${query}`));
      expect(location.searchParams.get('error')).to.equal('access_denied');
      expect(location.searchParams.get('state')).to.equal(start.state);
      expect(location.searchParams.get('iss')).to.equal(issuer);
      expect(setCookies(await browser.open(`${path}?${query}`)).length).to.be.at.most(2);
    });
  }

  it('logs it, and counts it as a callback', async () => {
    const { process } = underTest();
    const listening = await process.logLine(({ msg }) => msg === 'listening');
    expect(listening).to.include({ callbackUrl }).and.not.have.property('callbackUrls');
    const answer = await underTest().get(`${path}?error=access_denied`);
    const id = answer.headers['x-request-id'];
    const line = await process.logLine((one) => one['requestId'] === id);
    expect(line).to.include({ route: path, outcome: 'access_denied' });
  });

  it('sets the cookie of a login for the whole host, so that the callback gets it', async () => {
    const [cookie] = setCookies(await browser.open('/auth/provider'));
    expect(cookie?.attributes).to.include('Path=/');
  });

  it('is a usual callback for methods, prefetches, frames and CORS', async () => {
    expect((await underTest().send({ method: 'POST', path })).status).to.equal(405);
    expect((await underTest().send({ method: 'HEAD', path })).status).to.equal(405);
    const prefetch = [...navigation, ['Sec-Purpose', 'prefetch'] as [string, string]];
    expect((await underTest().send({ path, headers: prefetch })).status).to.equal(503);
    const framed = navigation.map(([name, value]): [string, string] => [
      name,
      name === 'Sec-Fetch-Dest' ? 'iframe' : value,
    ]);
    const { headers } = await underTest().send({ path, headers: framed });
    expect(new URL(headers.location ?? '').searchParams.get('error')).to.equal('callback_framed');
    const of = async (origin: string) => (await underTest().send({ path, headers: [['Origin', origin]] })).headers;
    expect((await of(frontendOrigin))['access-control-allow-origin']).to.equal(frontendOrigin);
    expect(await of('https://evil.example')).not.to.have.property('access-control-allow-origin');
  });

  it('does not answer to another spelling, nor at the default path', async () => {
    const request = expectRedirect(await browser.open('/auth/provider'));
    const { search } = new URL(granted(underTest().provider, request));
    for (const other of [
      `${path}/`,
      `/${path}`,
      '/OAuth2/callback',
      '/oauth2/%63allback',
      '/oauth2%2fcallback',
      '/oauth2',
      '/oauth2/callback/x',
      '/auth/provider/callback',
      '/auth/github/callback',
    ]) {
      const answer = await browser.open(other + search);
      expect(answer.status, other).to.equal(404);
      expect(expectError(answer, 404)).to.equal(new RelayError('not_found').detail);
    }
    expect(underTest().provider.calls).to.deep.equal([]);
    expect(expectRedirect(await browser.open(path + search)).searchParams.has('access_token')).to.equal(true);
  });

  it('is not taken from another browser, nor twice', async () => {
    const request = expectRedirect(await browser.open('/auth/github'));
    const callback = granted(underTest().provider, request);
    const other = expectRedirect(await new FakeBrowser(underTest).open(callback));
    expect(other.searchParams.get('error')).to.equal('state_unknown');
    expect(underTest().provider.calls).to.deep.equal([]);
    expect(expectRedirect(await browser.open(callback)).searchParams.has('access_token')).to.equal(true);
    expect(expectRedirect(await browser.open(callback)).searchParams.get('error')).to.equal('state_finished');
  });
});

describe('a callback path below the path of the base URL', () => {
  const base = 'https://my.host/sso';
  const underTest = relayUnderTest({ 'base-url': base, 'callback-path': path }, { redirectUri: `${base}${path}` });

  it('works whether the proxy keeps or removes that path', async () => {
    for (const prefix of ['', '/sso']) {
      const started = await underTest().send({ path: `${prefix}/auth/provider`, headers: navigation });
      const request = expectRedirect(started);
      expect(request.searchParams.get('redirect_uri')).to.equal(base + path);
      const [cookie] = setCookies(started);
      const { search } = new URL(granted(underTest().provider, request));
      const headers: [string, string][] = [...navigation, ['Cookie', `${cookie?.name}=${cookie?.value}`]];
      const end = expectRedirect(await underTest().send({ path: `${prefix}${path}${search}`, headers }));
      expect(end.searchParams.has('access_token')).to.equal(true);
    }
  });
});
