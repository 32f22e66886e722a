import { expect } from 'chai';
import {
  expectSessionFailure,
  SessionPage,
  sessionCookie,
  sessionFlags,
  sessionOf,
} from '../harness/login/session-page.ts';
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
