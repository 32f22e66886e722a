import { expect } from 'chai';
import { clearedCookies } from '../harness/browser/cookie-jar.ts';
import { expectFailure } from '../harness/expect/failures.ts';
import {
  expectSessionFailure,
  SessionPage,
  sessionCookie,
  sessionFlags,
  sessionOf,
} from '../harness/login/session-page.ts';
import { metadata, openIdPath } from '../harness/provider/metadata.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import type { Relay } from '../harness/relay/relay-under-test.ts';
import { eventually } from '../harness/system/eventually.ts';

const pieces = [sessionCookie, `${sessionCookie}.1`, `${sessionCookie}.2`];

describe('the logout of a session', () => {
  const { startRelay, underTest } = useRefreshingRelay(sessionFlags);
  let provider: RefreshingProvider;
  let relay: Relay;
  let page: SessionPage;

  before(() => {
    ({ provider, relay } = underTest());
  });
  beforeEach('log in', async () => {
    page = new SessionPage(() => relay, provider);
    await page.logIn();
    provider.calls.length = 0;
  });

  it('clears every piece of the cookie, and revokes both tokens', async () => {
    await page.lookUp();
    const [accessToken = ''] = provider.credentials('user');
    const answer = await page.logOut();
    expect([answer.status, `${answer.body}`]).to.deep.equal([200, '{}']);
    expect(clearedCookies(answer)).to.deep.equal(pieces);
    expect(provider.credentials('revocation')).to.have.lengthOf(2).and.include(accessToken);
    expect(provider.accepts(accessToken)).to.equal(false);
    expectSessionFailure(await page.describe(), 'session_missing');
  });

  it('with revoke=false ends the session, and revokes nothing', async () => {
    const { cookie } = page;
    const answer = await page.send('/auth/logout?revoke=false', 'POST');
    expect(answer.status).to.equal(200);
    expect(clearedCookies(answer)).to.deep.equal(pieces);
    expectSessionFailure(await page.describe({ cookie }), 'session_missing');
    expect(provider.credentials('revocation')).to.deep.equal([]);
  });

  it('revokes the newest tokens if another tab has just refreshed the session', async () => {
    const old = page.cookie;
    sessionOf(await page.refresh());
    await page.logOut({ cookie: old });
    const [refreshToken] = provider.credentials('revocation');
    expect(provider.isNewest(refreshToken)).to.equal(true);
  });

  it('without a session clears the cookie all the same', async () => {
    page.browser.cookies.set(`${sessionCookie}.2`, 'stale');
    const answer = await page.logOut();
    expect([answer.status, `${answer.body}`]).to.deep.equal([200, '{}']);
    expect(clearedCookies(answer)).to.deep.equal(pieces);
    expect(provider.calls).to.deep.equal([]);
    expect((await page.logOut()).status).to.equal(200);
  });

  for (const trouble of ['reset', 'nonsense', 500, 429, 400, 401] as const) {
    it(`clears the cookie even if the provider fails: ${trouble}`, async () => {
      provider.mood.trouble = trouble;
      const answer = await page.logOut();
      expect(answer.status).to.equal(200);
      expect(clearedCookies(answer)).to.deep.equal(pieces);
    });
  }

  it('does not wait for a provider that never answers', async () => {
    provider.onRevocation = () => {};
    const answer = await page.logOut();
    expect(answer.status).to.equal(200);
    expect(clearedCookies(answer)).to.deep.equal(pieces);
  });

  it('goes on if the page goes away', async () => {
    const { cookie } = page;
    const asked = Promise.withResolvers<void>();
    provider.onRevocation = () => asked.resolve();
    const hangUp = new AbortController();
    const lost = page.logOut({ cookie, signal: hangUp.signal }).catch(() => undefined);
    await asked.promise;
    hangUp.abort();
    expect(await lost).to.equal(undefined);
    expectSessionFailure(await page.describe({ cookie }), 'session_missing');
    await eventually(async () => {
      expect(provider.credentials('revocation')).to.have.lengthOf(2);
    });
  });

  it('leaves nothing that a copy of the cookie could open at this relay', async () => {
    const { cookie } = page;
    provider.onRevocation = (response) => void response.writeHead(503).end();
    await page.logOut();
    provider.calls.length = 0;
    expectSessionFailure(await page.describe({ cookie }), 'session_missing');
    expectSessionFailure(await page.refresh({ cookie }), 'session_missing');
    expectFailure(await page.lookUp({ cookie }), 'session_missing');
    expect(provider.calls).to.deep.equal([]);
  });

  it('leaves nothing after a reload of the configuration either', async () => {
    const { cookie } = page;
    await page.logOut();
    await relay.reload();
    expectSessionFailure(await page.describe({ cookie }), 'session_missing');
  });

  it('names the provider’s own logout page, if its metadata has one', async () => {
    const { origin, authorizeUrl, flags, pages } = provider;
    const endpoints = {
      authorization_endpoint: authorizeUrl,
      token_endpoint: flags['token-url'],
      userinfo_endpoint: flags['user-url'],
      end_session_endpoint: `${origin}/logout?theme=dark`,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    };
    provider.pages = { [openIdPath]: json(metadata(origin, endpoints)) };
    const issuing = { ...(await sessionFlags()), issuer: origin };
    const discovering = await startRelay({ client: provider.registration, flags: issuing });
    const atIssuer = new SessionPage(() => discovering, provider);
    await eventually(() => atIssuer.logIn());
    const answer = await atIssuer.logOut();
    provider.pages = pages;
    expect(JSON.parse(`${answer.body}`)).to.deep.equal({
      url: `${origin}/logout?theme=dark&client_id=${provider.registration.clientId}`,
    });
  });
});
