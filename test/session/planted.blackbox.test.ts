import { expect } from 'chai';
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

const plainCookie = 'lr_session_app';

describe('a session that an attacker plants', () => {
  const { underTest } = useRefreshingRelay(sessionFlags);
  let provider: RefreshingProvider;
  let relay: Relay;
  let attacker: SessionPage;
  let victim: SessionPage;

  before(() => {
    ({ provider, relay } = underTest());
  });
  beforeEach('both log in', async () => {
    attacker = new SessionPage(() => relay, provider);
    victim = new SessionPage(() => relay, provider);
    await attacker.logIn();
    await victim.logIn();
    provider.calls.length = 0;
  });

  /** The session of a page, without the name of its cookie. */
  const valueIn = (page: SessionPage) => page.browser.cookies.get(sessionCookie) ?? '';

  async function expectNoSession(cookie: string): Promise<void> {
    const before = provider.calls.length;
    expectSessionFailure(await victim.describe({ cookie }), 'session_missing');
    expectSessionFailure(await victim.refresh({ cookie }), 'session_missing');
    expect((await victim.lookUp({ cookie })).status).to.equal(401);
    expect(provider.calls).to.have.lengthOf(before);
  }

  it('under a name without the prefix, as a sibling domain can, is ignored', async () => {
    for (const name of [plainCookie, `__Host-lr_session_app`, `__Secure-lr_session_app`]) {
      const planted = `${name}=${valueIn(attacker)}`;
      await expectNoSession(planted);
      for (const both of [`${planted}; ${victim.cookie}`, `${victim.cookie}; ${planted}`]) {
        sessionOf(await victim.describe({ cookie: both }));
        await victim.lookUp({ cookie: both });
      }
    }
    const used = new Set(provider.credentials('user'));
    expect(used.size).to.equal(1);
    await victim.lookUp();
    expect(new Set(provider.credentials('user'))).to.deep.equal(used);
  });

  it('under the same name, from whatever place, is no session, and neither is the genuine one', async () => {
    const [own, planted] = [valueIn(victim), valueIn(attacker)];
    for (const values of [
      [planted, own],
      [own, planted],
      [own, own],
      ['', own],
      [own, ''],
    ]) {
      await expectNoSession(values.map((value) => `${sessionCookie}=${value}`).join('; '));
    }
  });

  it('in pieces beside the genuine one is no session', async () => {
    for (const piece of ['.1', '.2']) {
      await expectNoSession(`${victim.cookie}; ${sessionCookie}${piece}=${valueIn(attacker)}`);
    }
  });

  it('in the pieces of a longer session is no session', async () => {
    provider.onToken = json({ access_token: 'a'.repeat(6000), token_type: 'bearer' });
    for (const page of [attacker, victim]) await page.logIn();
    provider.calls.length = 0;
    const cookies = [attacker, victim].map((page) => page.cookie.split('; '));
    const [planted = [], own = []] = cookies;
    expect(own).to.have.lengthOf(3);
    for (const index of own.keys()) {
      await expectNoSession(own.with(index, planted[index] ?? '').join('; '));
    }
    sessionOf(await victim.describe());
  });

  it('does not survive the next login of the victim', async () => {
    victim.browser.cookies.set(sessionCookie, valueIn(attacker));
    victim.browser.cookies.set(`${sessionCookie}.1`, 'left');
    await victim.logIn();
    await victim.lookUp();
    await attacker.lookUp();
    const [ofVictim, ofAttacker] = provider.credentials('user');
    expect(ofVictim).not.to.equal(ofAttacker);
    expect(victim.cookie).not.to.contain('.1=');
  });
});
