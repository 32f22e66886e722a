import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import {
  expectSessionFailure,
  SessionPage,
  sessionCookie,
  sessionFlags,
  sessionOf,
} from '../harness/login/session-page.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import type { Relay } from '../harness/relay/relay-under-test.ts';

describe('the refresh of a session', () => {
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

  it('that lost a race at another relay is 401, and clears nothing', async () => {
    const flags = { ...provider.flags, ...(await sessionFlags()) };
    const other = await startRelay({ client: provider.registration, flags });
    const late = page.cookie;
    sessionOf(await page.refresh());
    const elsewhere = new SessionPage(() => other, provider);
    const answer = await elsewhere.refresh({ cookie: late });
    expectSessionFailure(answer, 'session_refused');
    expect(setCookies(answer)).to.deep.equal([]);
    expect((await elsewhere.describe({ cookie: page.cookie })).status).to.equal(200);
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
