import { expect } from 'chai';
import { callback } from '../harness/browser/fake-browser.ts';
import { canary, expectNoneRemembered, inspectForLeaks, remember } from '../harness/expect/canaries.ts';
import { SessionPage, sessionFlags } from '../harness/login/session-page.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import { loginPath } from '../harness/relay/relay-under-test.ts';

/** A page to return to, which no log needs to know. */
const returnTo = '/profile?private=page-of-a-person';

describe('the secrets of a session', () => {
  // This must run before the relay is stopped.
  after('nothing secret is in the log or the metrics', async () => {
    const { relay } = underTest();
    const metrics = await relay.metrics();
    expect(metrics).to.contain('route="/auth/session/refresh"');
    const { stdout, stderr } = relay.process;
    expectNoneRemembered(metrics + stdout + stderr);
    inspectForLeaks('log and metrics', metrics + stdout + stderr);
    expect(stdout + stderr).not.to.match(/lr_session_/);
  });
  const { underTest } = useRefreshingRelay(async () => ({
    ...(await sessionFlags()),
    'metrics-port': '0',
    'log-level': 'debug',
  }));
  let provider: RefreshingProvider;
  let page: SessionPage;
  beforeEach(async () => {
    ({ provider } = underTest());
    page = new SessionPage(() => underTest().relay, provider);
    await page.logIn();
  });

  /** Uses every endpoint. Returns the answers as text. */
  async function useAll(): Promise<string> {
    const user = await page.lookUp();
    // The record of this provider's user names the token that it belongs to.
    if (user.status === 200) user.body = Buffer.alloc(0);
    const answers = [user, await page.describe(), await page.refresh(), await page.logOut()];
    return answers.map(({ body, rawHeaders }) => `${body}${rawHeaders}`).join('\n');
  }

  it('are in no answer, even if the provider quotes them', async () => {
    expect(await useAll()).not.to.contain('c4n4ry');
    await page.logIn();
    provider.mood.trouble = 'quotes';
    expect(await useAll()).not.to.contain('c4n4ry');
    const answer = await page.finishLogin();
    expect(`${answer.body}${answer.rawHeaders}`).not.to.contain('c4n4ry');
  });

  it('are in no answer to a login whose tokens are too long', async () => {
    provider.onToken = json({ access_token: canary('token').repeat(400), token_type: 'bearer' });
    const answer = await page.finishLogin();
    expect(answer.headers.location).to.contain('error=session_too_large');
    expect(`${answer.body}${answer.rawHeaders}`).not.to.contain('c4n4ry');
  });

  it('include the page to return to, which no log has', async () => {
    remember('page-of-a-person');
    const start = `${loginPath}?${new URLSearchParams({ return_to: returnTo })}`;
    await page.browser.open(start);
    await page.browser.open(callback({ state: 'altered', code: canary('code') }));
    await page.browser.open(`${loginPath}?return_to=${encodeURIComponent(`//${returnTo}`)}`);
  });
});

describe('the metrics of sessions', () => {
  const { underTest } = useRefreshingRelay(async () => ({
    ...(await sessionFlags()),
    'metrics-port': '0',
  }));

  it('count logins, refreshes and logouts by their outcome', async () => {
    const { provider, relay } = underTest();
    const page = new SessionPage(() => relay, provider);
    await page.describe();
    await page.logIn();
    await page.describe();
    provider.mood.expiresIn = 60;
    await page.refresh();
    provider.revokeAll();
    await page.refresh();
    await page.logOut();
    await page.logOut({ header: undefined });
    const metrics = await relay.metrics();
    for (const line of [
      'login_relay_logins_started_total 1',
      'login_relay_logins_finished_total 1',
      'login_relay_refreshes_total{outcome="ok"} 1',
      'login_relay_refreshes_total{outcome="session_refused"} 1',
      'login_relay_logouts_total{outcome="ok"} 1',
      'login_relay_logouts_total{outcome="request_header_missing"} 1',
      'login_relay_requests_total{route="/auth/session",status="401"} 1',
    ]) {
      expect(metrics.split('\n')).to.include(line);
    }
    const missing = await relay.requestLine('session_missing');
    expect(missing).to.include({ level: 'info', route: '/auth/session', status: 401 });
  });
});
