import { expect } from 'chai';
import { clearedCookies, setCookies } from '../harness/browser/cookie-jar.ts';
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

describe('a session', () => {
  const { startRelay, underTest } = useRefreshingRelay(async () => ({
    ...(await sessionFlags()),
    'refresh-tokens': 'off',
  }));
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

  describe('at its refresh', () => {
    /** The access token that the relay uses for a page. */
    async function tokenOf(): Promise<string> {
      const before = provider.credentials('user').length;
      await page.lookUp();
      return provider.credentials('user')[before] ?? '';
    }

    it('answers with the description, and the session goes on with a new token', async () => {
      const old = await tokenOf();
      const answer = await page.refresh();
      expect(sessionOf(answer)).to.include({ provider: 'provider', renewable: true });
      expect(sessionOf(await page.describe()))
        .to.have.property('expires_in')
        .within(28_700, 28_800);
      expect(setCookies(answer)[0]?.name).to.equal(sessionCookie);
      expect(Number(setCookies(answer)[0]?.maxAge)).to.be.within(86_300, 86_400);
      expect(await tokenOf()).not.to.equal(old);
      expect((await page.lookUp()).status).to.equal(200);
    });

    it('is another call if the provider refuses the new token in the meantime', async () => {
      sessionOf(await page.refresh());
      const { onUser } = provider;
      provider.onUser = json({}, 401);
      expect((await page.lookUp()).status).to.equal(401);
      provider.onUser = onUser;
      const refused = provider.credentials('user').at(-1);
      sessionOf(await page.refresh());
      expect(await tokenOf()).not.to.equal(refused);
    });

    it('that the provider refuses is 401, and clears nothing', async () => {
      provider.revokeAll();
      for (let time = 0; time < 3; time += 1) {
        const answer = await page.refresh();
        expectSessionFailure(answer, 'session_refused');
        expect(setCookies(answer)).to.deep.equal([]);
      }
      expect(provider.credentials('refresh')).to.have.lengthOf(1);
      sessionOf(await page.describe());
    });

    for (const trouble of ['reset', 'nonsense', 500, 429, 'quotes'] as const) {
      it(`can be tried again if the provider fails: ${trouble}`, async () => {
        provider.mood.trouble = trouble;
        const answer = await page.refresh();
        expect(answer.status).to.be.oneOf(trouble === 'quotes' ? [401, 502] : [502, 504]);
        expect(JSON.parse(`${answer.body}`)).to.have.all.keys('error', 'detail');
        expect(setCookies(answer)).to.deep.equal([]);
        provider.mood.trouble = undefined;
        if (trouble !== 'quotes') sessionOf(await page.refresh());
      });
    }

    it('without a refresh token renews the idle time, without a call', async () => {
      provider.mood.rotation = 'none';
      await page.logIn();
      provider.calls.length = 0;
      const answer = await page.refresh();
      expect(sessionOf(answer)).to.include({ renewable: false });
      expect(setCookies(answer)[0]?.name).to.equal(sessionCookie);
      expect(Number(setCookies(answer)[0]?.maxAge)).to.be.within(28_700, 28_800);
      expect(provider.calls).to.deep.equal([]);
    });
  });

  describe('at its logout', () => {
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

    it('continues if the page disconnects', async () => {
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

    it('names the provider’s own logout page, if its metadata name it', async () => {
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
});
