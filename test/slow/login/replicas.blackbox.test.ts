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

  async function expectAltered(login: Login): Promise<void> {
    expectRefusal(current, await browser.finish(login), 'state_altered');
  }

  for (const [kind, start] of Object.entries({
    'the key derived from the client secret': () => startReplica(),
    'a key file': () => startReplicaWithKeys(oldKey),
  })) {
    describe(`with ${kind}`, () => {
      it('a login that starts at one finishes at the other, in both directions', async () => {
        const one = await start();
        const first = await browser.start();
        const two = await start();
        const second = await browser.start();
        await expectFinished(first);
        current = one;
        await expectFinished(second);
        expect(one.port).not.to.equal(two.port);
      });

      it('a login that was pending at a restart finishes after it', async () => {
        const earlier = await start();
        const login = await browser.start('?state=own');
        await earlier.process.stop();
        await start();
        const location = expectLogin(current, await browser.finish(login), login);
        expect(location.searchParams.get('state')).to.equal('own');
      });

      it('a login that one has finished is finished for the other', async () => {
        await start();
        const login = await browser.start();
        await expectFinished(login);
        await start();
        provider.forget();
        expectRefusal(current, await browser.finish(login), 'state_finished');
      });
    });
  }

  describe('and a key is rotated during a pending login:', () => {
    it('the previous key, now the second, still finishes it', async () => {
      const earlier = await startReplicaWithKeys(oldKey);
      const login = await browser.start();
      await earlier.process.stop();
      await startReplicaWithKeys(newKey, oldKey);
      await expectFinished(login);
    });

    it('a key that is no longer in the file finishes no login', async () => {
      await startReplicaWithKeys(oldKey);
      const login = await browser.start();
      await startReplicaWithKeys(newKey);
      await expectAltered(login);
      await startReplicaWithKeys(newKey, otherKey);
      await expectAltered(login);
    });
  });

  describe('but refuse the login of a relay with', () => {
    it('another key, in both directions', async () => {
      const one = await startReplicaWithKeys(oldKey);
      const first = await browser.start();
      await startReplicaWithKeys(otherKey);
      const second = await browser.start();
      await expectAltered(first);
      current = one;
      await expectAltered(second);
    });
  });
});
