import { expect } from 'chai';
import { guardedRelay } from '../access/support/guarded-relay.ts';
import type { SessionPage } from '../harness/login/session-page.ts';
import { answer, json, type Reply } from '../harness/provider/provider-behaviours.ts';

const forbidden = answer(403, 'Bad_OAuth_Token', { 'content-type': 'text/plain' });
const invalid = json({ error: { type: 'OAuthException', code: 190 } }, 400);
const frontEnd = 'token-delivery: session, allow: { users: [ada] }';
const openToAll = 'token-delivery: session';

describe('a lookup of a session that the provider refuses without saying that the token has ended', () => {
  const relay = guardedRelay();
  let page: SessionPage;
  const refreshes = () => relay().provider.credentials('refresh').length;
  const lookups = () => relay().provider.credentials('user');

  /** Refuses every token that was seen before. */
  function refuseKnown(refusal: Reply): void {
    const known = new Set(lookups());
    relay().provider.onUser = (response, call) =>
      known.has(call.credential) ? refusal(response) : json({ login: 'ada', id: 1 })(response);
  }

  async function logIn(settings = openToAll) {
    await relay().guard({ frontEnd: settings });
    relay().provider.pages = {};
    relay().provider.onUser = json({ login: 'ada', id: 1 });
    page = relay().sessionPage();
    await page.logIn();
    expect((await page.lookUp()).status).to.equal(200);
  }

  for (const [what, refusal] of [
    ['403', forbidden],
    ['400', invalid],
  ] as const) {
    it(`renews the session once, and is answered: ${what}`, async () => {
      await logIn();
      refuseKnown(refusal);
      const found = await page.lookUp();
      expect(found.status, `${found.body}`).to.equal(200);
      expect(JSON.parse(`${found.body}`)).to.include({ login: 'ada' });
      expect(refreshes()).to.equal(1);
      // The cookie has the new tokens.
      expect((await page.lookUp()).status).to.equal(200);
      expect((await page.refresh()).status).to.equal(200);
    });

    it(`renews once if it stays ${what}, then no more for a minute; the session lives on`, async () => {
      await logIn();
      relay().provider.onUser = refusal;
      for (let time = 0; time < 5; time += 1) expect((await page.lookUp()).status).to.equal(502);
      expect(refreshes()).to.equal(1);
      relay().advance(61_000);
      expect((await page.lookUp()).status).to.equal(502);
      expect(refreshes()).to.equal(2);
      relay().provider.onUser = json({ login: 'ada', id: 1 });
      expect((await page.lookUp()).status).to.equal(200);
      expect((await page.describe()).status).to.equal(200);
      expect((await page.refresh()).status).to.equal(200);
    });
  }

  it('renews also right after a refresh', async () => {
    await logIn();
    expect((await page.refresh()).status).to.equal(200);
    await page.lookUp();
    refuseKnown(forbidden);
    expect((await page.lookUp()).status).to.equal(200);
  });

  it('causes one refresh for all requests that the page sends at once', async () => {
    await logIn();
    refuseKnown(forbidden);
    const { cookie } = page;
    const all = await Promise.all(Array.from({ length: 8 }, () => page.lookUp({ cookie })));
    expect(all.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
    expect(refreshes()).to.equal(1);
  });

  it('says that the session is over if the provider does not renew it', async () => {
    await logIn();
    refuseKnown(forbidden);
    relay().provider.revokeAll();
    const refused = await page.lookUp();
    expect(refused.status).to.equal(401);
    expect(refused.headers['www-authenticate']).to.contain('invalid_token');
  });

  it('fails as before if the provider cannot renew it now', async () => {
    await logIn();
    refuseKnown(forbidden);
    relay().provider.mood.trouble = 500;
    expect((await page.lookUp()).status).to.equal(502);
    relay().provider.mood.trouble = undefined;
    expect((await page.lookUp()).status).to.equal(200);
  });

  it('ends the session of a person who may not log in any more', async () => {
    await logIn(frontEnd);
    const known = new Set(lookups());
    relay().provider.onUser = (response, call) =>
      known.has(call.credential) ? forbidden(response) : json({ login: 'eve', id: 2 })(response);
    expect((await page.lookUp()).status).to.equal(401);
    expect((await page.describe()).status).to.equal(401);
  });

  it('renews nothing without a refresh token, for 401, 429 or 500, or after a logout', async () => {
    for (const refusal of [json({}, 401), json({}, 429), json({}, 500), json({}, 404)]) {
      await logIn();
      relay().provider.onUser = refusal;
      await page.lookUp();
      expect(refreshes()).to.equal(0);
    }
    await logIn();
    const { cookie } = page;
    await page.logOut();
    relay().provider.onUser = forbidden;
    expect((await page.lookUp({ cookie })).status).to.equal(401);
    expect(refreshes()).to.equal(0);
    relay().provider.forget();
    relay().provider.mood.rotation = 'none';
    page = relay().sessionPage();
    await page.logIn();
    relay().provider.onUser = forbidden;
    expect((await page.lookUp()).status).to.equal(502);
    expect(refreshes()).to.equal(0);
  });
});
