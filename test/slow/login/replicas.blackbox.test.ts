import { expect } from 'chai';
import {
  expectLogin,
  expectRefusal,
  FakeBrowser,
  type Login,
} from '../../harness/browser/fake-browser.ts';
import { expectNoneRemembered } from '../../harness/expect/canaries.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';
import {
  type RelayUnderTest,
  registration,
  secretFile,
  startRelayFor,
} from '../../harness/relay/relay-under-test.ts';

const oldKey = 'the-old-key-of-these-replicas-0001';
const newKey = 'the-new-key-of-these-replicas-0002';
const otherKey = 'the-key-of-some-other-relay-000003';

describe('replicas share pending logins without communication', () => {
  let provider: StrictProvider;
  let replicas: RelayUnderTest[];
  let browser: FakeBrowser;
  let current: RelayUnderTest;

  beforeEach(async () => {
    provider = await StrictProvider.start(registration());
    replicas = [];
    browser = new FakeBrowser(() => current);
  });
  afterEach(async () => {
    for (const { process } of replicas) {
      const { stdout, stderr, code } = await process.stop();
      expectNoneRemembered(stdout + stderr);
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
    }
    await provider.stop();
    expect(provider.violations).to.deep.equal([]);
  });

  /** Starts another process. The browser uses it from now on. */
  async function startReplica(changes: Flags = {}): Promise<RelayUnderTest> {
    current = await startRelayFor(provider, changes);
    replicas.push(current);
    return current;
  }

  async function startReplicaWithKeys(...keys: string[]): Promise<RelayUnderTest> {
    return await startReplica({ 'key-file': await secretFile(keys.join('\n')) });
  }

  async function expectFinished(login: Login): Promise<void> {
    expectLogin(current, await browser.finish(login), login);
  }

  for (const [kind, start] of Object.entries({
    'the key derived from the client secret': () => startReplica(),
    'a key file': () => startReplicaWithKeys(oldKey),
  })) {
    it(`with ${kind}: a login ends at any of them, also after a restart, and only once`, async () => {
      const one = await start();
      const [first, pending] = [await browser.start(), await browser.start('?state=own')];
      const two = await start();
      const second = await browser.start();
      await expectFinished(first);
      current = one;
      await expectFinished(second);
      await one.process.stop();
      current = two;
      const location = expectLogin(current, await browser.finish(pending), pending);
      expect(location.searchParams.get('state')).to.equal('own');
      await start();
      provider.forget();
      expectRefusal(current, await browser.finish(first), 'state_finished');
    });
  }

  it('with a rotated key: the previous one, now the second, still ends a login, a removed one does not', async () => {
    const earlier = await startReplicaWithKeys(oldKey);
    const [kept, lost] = [await browser.start(), await browser.start()];
    await earlier.process.stop();
    await startReplicaWithKeys(newKey, oldKey);
    await expectFinished(kept);
    provider.forget();
    await startReplicaWithKeys(newKey, otherKey);
    expectRefusal(current, await browser.finish(lost), 'state_altered');
  });
});
