import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { type Answer, send } from '../harness/client/http-client.ts';
import { expectCmsPopup, resultOf } from '../harness/expect/cms-popup.ts';
import { expectRedirect } from '../harness/expect/expectations.ts';
import {
  encoded,
  logInTo,
  oauthStart,
  type Parameters,
  redemption,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { expectSessionFailure, type SessionPage, sessionOf } from '../harness/login/session-page.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { eventually } from '../harness/system/eventually.ts';
import { givesAway, guardedOrigin, guardedRelay } from './support/guarded-relay.ts';

const hour = 3_600_000;
const minute = 60_000;
const allow = 'allow: { organizations: [example] }';
const membership = 'GET /user/memberships/orgs/example';
const member = json({ state: 'active' });
const stranger = json({ message: 'Not Found' }, 404);

function expectTokenOver({ status, headers }: Answer): void {
  expect(status).to.equal(401);
  expect(headers['www-authenticate']).to.equal('Bearer error="invalid_token"');
}

describe('who may log in, at a refresh', () => {
  const relay = guardedRelay();
  const refreshesAtProvider = () => relay().provider.credentials('refresh').length;

  /** A relay where the person is a member. */
  async function guard(frontEnd: string, more = ''): Promise<void> {
    await relay().guard({ frontEnd: `${frontEnd}, ${allow}`, more });
    relay().answer({ [membership]: member });
  }

  async function session(): Promise<SessionPage> {
    await guard('token-delivery: session');
    const page = relay().sessionPage();
    await page.logIn();
    return page;
  }

  /** A page with a session for which the provider gave no refresh token. */
  async function sessionWithoutRefresh(): Promise<SessionPage> {
    await guard('token-delivery: session');
    relay().provider.mood.rotation = 'none';
    const page = relay().sessionPage();
    await page.logIn();
    return page;
  }

  /** The person is no member any more. */
  function remove(): void {
    relay().answer({ [membership]: stranger });
    relay().advance(minute);
  }

  /** Logs in as an OAuth page. Returns its redemption. */
  async function oauthCode() {
    const own = { redirect_uri: `${guardedOrigin}/`, client_id: 'app' };
    return redemption(await logInTo(relay().browser(), relay(), oauthStart(own)), own);
  }

  /** The answer to a token request of the page. */
  async function ask(parameters: Parameters) {
    const answer = await requestToken(relay(), parameters, [], { origin: guardedOrigin });
    return { ...answer, json: JSON.parse(`${answer.body}`) };
  }

  const refresh = (token: string) => ask({ grant_type: 'refresh_token', client_id: 'app', refresh_token: token });

  /** Logs in as an OAuth page. Returns its refresh token. */
  async function oauthLogin(): Promise<string> {
    await guard('token-delivery: code', 'refresh-tokens: bearer');
    const { json: tokens } = await ask(await oauthCode());
    expect(tokens.refresh_token).to.be.a('string');
    return tokens.refresh_token;
  }

  it('ends the session of a person who was removed, and revokes the tokens', async () => {
    const page = await session();
    remove();
    const answer = await page.refresh();
    expectSessionFailure(answer, 'session_refused', new RelayError('access_ended').detail);
    expect(givesAway(answer)).to.equal(false);
    await eventually(async () => {
      expect(relay().provider.credentials('revocation')).to.have.length(2);
    });
  });

  for (const rotation of ['rotates', 'keeps', 'none'] as const) {
    it(`ends this session even if the provider revokes nothing, with a refresh token that is ${rotation}`, async () => {
      await guard('token-delivery: session');
      relay().provider.mood.rotation = rotation;
      relay().provider.onRevocation = json({}, 500);
      const page = relay().sessionPage();
      await page.logIn();
      const copy = { cookie: page.cookie };
      remove();
      expect((await page.refresh()).status).to.equal(401);
      relay().answer({ [membership]: member });
      relay().advance(2 * minute);
      for (const ask of ['lookUp', 'describe', 'refresh'] as const) {
        expect((await page[ask](copy)).status, ask).to.equal(401);
      }
    });
  }

  it('ends the refresh tokens of a person who was removed', async () => {
    const first = await oauthLogin();
    remove();
    expect((await refresh(first)).json).to.include({ error: 'invalid_grant' });
    // This holds for repeated requests, and after the person has been admitted again.
    relay().answer({ [membership]: member });
    relay().advance(2 * minute);
    expect((await refresh(first)).json).to.include({ error: 'invalid_grant' });
  });

  it('is asked within an hour for sessions, even if nothing refreshes them', async () => {
    const page = await session();
    relay().provider.mood.expiresIn = undefined;
    expect((await page.lookUp()).status).to.equal(200);
    expect(sessionOf(await page.describe()).expires_in).to.be.within(3500, 3600);
    relay().answer({ [membership]: stranger });
    relay().advance(hour - minute);
    expect((await page.lookUp()).status).to.equal(200);
    relay().advance(minute);
    const calls = relay().provider.calls.length;
    expectTokenOver(await page.lookUp());
    expect(sessionOf(await page.describe())).to.include({ expires_in: 0, renewable: true });
    expect(relay().provider.calls).to.have.length(calls);
    expect((await page.refresh()).status).to.equal(401);
    expect((await page.lookUp()).status).to.equal(401);
  });

  it('is also asked for sessions and refresh tokens that have no refresh token of the provider', async () => {
    const page = await sessionWithoutRefresh();
    relay().advance(minute);
    expect((await page.refresh()).status).to.equal(200);
    // The provider does not know the token, so this is not an outage, and the login ends.
    relay().answer({ 'GET /user': json({}, 401) });
    relay().advance(minute);
    expectSessionFailure(await page.refresh(), 'session_refused');
    relay().answer({ 'GET /user': json({ login: 'ada', id: 1 }), [membership]: stranger });
    const { detail } = new RelayError('access_ended');
    expectSessionFailure(await page.refresh(), 'session_refused', detail);
  });

  it('is not asked again within a minute, and the minute does not grow with the questions', async () => {
    const page = await sessionWithoutRefresh();
    const asked = relay().asked.length;
    for (let seconds = 0; seconds < 60; seconds += 25) {
      expect((await page.refresh()).status).to.equal(200);
      relay().advance(25_000);
    }
    expect(relay().asked).to.have.length(asked);
    expect((await page.refresh()).status).to.equal(200);
    expect(relay().asked.length).to.be.greaterThan(asked);
  });

  for (const rotation of ['rotates', 'keeps'] as const) {
    it(`survives an outage of an hour that lets nobody in: refresh token ${rotation}`, async () => {
      const page = await session();
      relay().provider.mood.rotation = rotation;
      relay().provider.mood.expiresIn = 2 * 3600;
      relay().answer({ [membership]: json({}, 500) });
      relay().advance(61 * minute);
      for (let minutes = 0; minutes < 59; minutes += 19) {
        expectSessionFailure(await page.refresh(), 'access_unchecked');
        expectTokenOver(await page.lookUp());
        relay().advance(19 * minute);
      }
      // Later tests would only see repeated questions.
      expect(refreshesAtProvider()).to.equal(1);
      const other = relay().sessionPage();
      expect(givesAway(await other.finishLogin())).to.equal(false);
      relay().answer({ [membership]: member });
      expect((await page.refresh()).status).to.equal(200);
      expect(refreshesAtProvider()).to.equal(1);
      expect((await page.lookUp()).status).to.equal(200);
      relay().advance(2 * minute);
      expect((await page.refresh()).status).to.equal(200);
      expect(relay().provider.violations).to.deep.equal([]);
    });
  }

  it('survives an outage in which the access token of the refresh has ended', async () => {
    const first = await oauthLogin();
    relay().provider.mood.expiresIn = 300;
    relay().answer({ [membership]: json({}, 503, { 'Retry-After': '7' }) });
    const failed = await refresh(first);
    expect(failed.status).to.equal(503);
    expect(failed.headers['retry-after']).to.equal('7');
    expect(failed.json).to.include({ error: 'temporarily_unavailable' });
    relay().advance(10 * minute);
    relay().answer({ [membership]: member });
    const { status, json: body } = await refresh(first);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.expires_in).to.be.within(200, 300);
    expect((await refresh(body.refresh_token)).status).to.equal(200);
  });

  it('gives the same tokens to two tabs that refresh during an outage', async () => {
    const first = await oauthLogin();
    relay().answer({ [membership]: json({}, 500) });
    const failed = await Promise.all([refresh(first), refresh(first)]);
    expect(failed.map(({ status }) => status)).to.deep.equal([502, 502]);
    relay().advance(5 * minute);
    relay().answer({ [membership]: member });
    const tabs = await Promise.all([refresh(first), refresh(first)]);
    expect(tabs.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(tabs[0]?.json.access_token).to.equal(tabs[1]?.json.access_token);
    expect(refreshesAtProvider()).to.equal(1);
  });

  it('gives nothing after a logout during an outage, and revokes what the refresh gave', async () => {
    const page = await session();
    const copy = page.cookie;
    relay().answer({ [membership]: json({}, 500) });
    expect((await page.refresh()).status).to.equal(502);
    relay().advance(10 * minute);
    const revoked = relay().provider.credentials('revocation').length;
    expect((await page.logOut()).status).to.equal(200);
    expect(relay().provider.credentials('revocation').length).to.equal(revoked + 2);
    relay().answer({ [membership]: member });
    const answer = await page.refresh({ cookie: copy });
    expect(answer.status).to.equal(401);
    expect(givesAway(answer)).to.equal(false);
  });

  it('asks by the rules of the moment after a reload, also for a result that is repeated', async () => {
    const first = await oauthLogin();
    expect((await refresh(first)).status).to.equal(200);
    const frontEnd = 'token-delivery: code, allow: { users: [somebody-else] }';
    await relay().guardNow({ frontEnd, more: 'refresh-tokens: bearer' });
    expect((await refresh(first)).json).to.include({ error: 'invalid_grant' });
  });

  it('asks by the new rules at the redemption of a code from before a reload', async () => {
    await guard('token-delivery: code');
    const code = await oauthCode();
    await relay().guardNow({ frontEnd: 'token-delivery: code, allow: { users: [somebody-else] }' });
    expect((await ask(code)).json).to.include({ error: 'access_denied' });
  });

  it('takes effect for sessions that began before there were rules', async () => {
    await relay().guard({ frontEnd: 'token-delivery: session' });
    relay().provider.mood.expiresIn = undefined;
    const page = relay().sessionPage();
    await page.logIn();
    await relay().guardNow({ frontEnd: 'token-delivery: session, allow: { users: [eve] }' });
    relay().advance(hour);
    expectTokenOver(await page.lookUp());
    expect((await page.refresh()).status).to.equal(401);
  });

  it('is asked for the refresh of a CMS', async () => {
    await guard('token-delivery: cms, refresh-tokens: bearer, scope: repo');
    const popup = expectCmsPopup(await relay().logIn(), 200);
    const { refreshToken } = Object(resultOf(popup, 'github', 'success'));
    const refresh = { grant_type: 'refresh_token', client_id: '', refresh_token: refreshToken };
    const body = JSON.stringify(refresh);
    const headers: [string, string][] = [
      ['Origin', guardedOrigin],
      ['Content-Type', 'application/json'],
      ['Content-Length', `${body.length}`],
    ];
    remove();
    const sending = { method: 'POST', path: '/auth/provider', headers, body };
    const answer = await send(relay().port, sending);
    expect(answer.status, `${answer.body}`).to.equal(400);
    expect(givesAway(answer)).to.equal(false);
  });

  it('keeps the scope that the questions need, whatever a page or a CMS asks for', async () => {
    const scopeOf = async (start: string) => {
      const request = expectRedirect(await relay().browser().open(start));
      return request.searchParams.get('scope');
    };
    await guard('token-delivery: cms, scope: repo read:org user');
    expect(await scopeOf('/auth/provider?scope=repo')).to.equal('repo read:org');
    await guard('token-delivery: fragment, scope: "repo,read:org"');
    expect(await scopeOf('/auth/provider')).to.equal('repo,read:org');
    await guard('token-delivery: code, scope: repo admin:org user');
    const start = oauthStart({ redirect_uri: `${guardedOrigin}/`, scope: 'user' });
    const query = encoded(start.parameters);
    expect(await scopeOf(`/auth/provider?${query}`)).to.equal('user admin:org');
    await relay().guard({ frontEnd: 'token-delivery: code, scope: repo admin:org user' });
    expect(await scopeOf(`/auth/provider?${query}`)).to.equal('user');
  });
});
