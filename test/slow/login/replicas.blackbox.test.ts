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

    it('new logins are signed only with the first key', async () => {
      await startReplicaWithKeys(newKey, oldKey);
      const [one, two] = [await browser.start(), await browser.start()];
      await startReplicaWithKeys(oldKey);
      await expectAltered(two);
      await startReplicaWithKeys(newKey);
      await expectFinished(one);
    });

    it('a replica that has both keys first accepts the logins of each key', async () => {
      const withOld = await startReplicaWithKeys(oldKey, newKey);
      const first = await browser.start();
      await startReplicaWithKeys(newKey, oldKey);
      const second = await browser.start();
      await expectFinished(first);
      current = withOld;
      await expectFinished(second);
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

    it('another client secret, if keys are derived from it', async () => {
      const another = await secretFile(`${provider.registration.clientSecret}x`);
      await startReplica({ 'client-secret-file': another });
      const login = await browser.start();
      await startReplica();
      await expectAltered(login);
    });

    it('a key file that contains the client secret', async () => {
      const { clientSecret } = provider.registration;
      await startReplicaWithKeys(clientSecret.padEnd(32, '0'));
      const login = await browser.start();
      await startReplica();
      await expectAltered(login);
    });

    it('another client at the provider', async () => {
      const keys = { 'key-file': await secretFile(oldKey) };
      await startReplica(keys);
      const login = await browser.start();
      await startReplica({ ...keys, 'client-id': 'client-2' });
      await expectAltered(login);
    });

    it('another address', async () => {
      const keys = { 'key-file': await secretFile(oldKey) };
      await startReplica(keys);
      const login = await browser.start();
      await startReplica({ ...keys, 'base-url': 'https://other.example' });
      await expectAltered(login);
    });

    it('another path name', async () => {
      const keys = { 'key-file': await secretFile(oldKey) };
      await startReplica(keys);
      const login = await browser.start();
      await startReplica({ ...keys, 'path-name': 'other' });
      const path = `/auth/other/callback?${new URLSearchParams({ code: login.code, state: login.state })}`;
      expectRefusal(current, await browser.open(path), 'state_altered');
    });
  });
});
