import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import type { RelayProcess } from '../../harness/relay/relay-process.ts';
import { baseUrl, frontendOrigin, listening } from '../../harness/relay/relay-under-test.ts';
import { ServiceManager } from '../../harness/relay/service-manager.ts';
import { needs } from '../../harness/system/needs.ts';

/** A relay that is started with these variables, and ended by the test. */
async function withRelay(
  env: Record<string, string>,
  act: (relay: RelayProcess, port: number) => Promise<void>,
  launcher: string[] = [],
): Promise<void> {
  const { relay, port } = await listening({
    launcher,
    flags: { port: '0', origin: frontendOrigin, 'base-url': baseUrl, 'client-id': 'client' },
    env: { PROVIDER_CLIENT_SECRET: canary('secret'), ...env },
  });
  try {
    await act(relay, port);
  } finally {
    await relay.stop('SIGKILL');
  }
}

const { describe } = needs('Linux', process.platform === 'linux');

describe('a relay that is started by a service manager', () => {
  let manager: ServiceManager;
  // One each: what a relay has said may come after its end.
  beforeEach(async () => {
    manager = await ServiceManager.start();
  });
  afterEach(async () => await manager.stop());

  it('tells when it is ready, when it reads its configuration again, and when it stops', async () => {
    await withRelay(manager.environment, async (relay) => {
      await manager.hears(/^READY=1$/);
      process.kill(relay.pid, 'SIGHUP');
      await manager.hears(/^READY=1$/, 2);
      process.kill(relay.pid, 'SIGTERM');
      expect((await relay.ended).code).to.equal(0);
      const [reloading = '', ...others] = manager.messages.splice(1, 3);
      expect(reloading).to.match(/^RELOADING=1 MONOTONIC_USEC=\d+$/);
      expect(others).to.deep.equal(['READY=1', 'STOPPING=1']);
    });
  });

  it('gives a sign of life again and again where one is awaited', async () => {
    await withRelay({ ...manager.environment, WATCHDOG_USEC: '200000' }, async () => {
      await manager.hears(/^WATCHDOG=1$/, 3);
    });
  });

  it('gives none where another process is watched', async () => {
    const watchdog = { WATCHDOG_USEC: '2000', WATCHDOG_PID: '1' };
    await withRelay({ ...manager.environment, ...watchdog }, async (relay) => {
      await manager.hears(/^READY=1$/);
      process.kill(relay.pid, 'SIGTERM');
      await relay.ended;
      expect(manager.notifications.map(({ message }) => message)).to.deep.equal([
        'READY=1',
        'STOPPING=1',
      ]);
    });
  });

  it('hands nothing else on to systemd-notify: no variable, no descriptor', async () => {
    const launcher = ['sh', '-c', 'exec 3</dev/null "$@"', 'sh'];
    const act = async () => {
      await manager.hears(/^READY=1$/);
      const [{ variables, passed } = { variables: [], passed: '' }] = manager.notifications;
      expect(variables).to.have.members(['NOTIFY_SOCKET', 'PATH']);
      expect(passed).to.not.equal('/dev/null');
    };
    await withRelay(manager.environment, act, launcher);
  });

  it('ends in time where signs of life take longer to be told than there is between them', async () => {
    const slow = await ServiceManager.start(300);
    try {
      await withRelay({ ...slow.environment, WATCHDOG_USEC: '2000' }, async (relay) => {
        await slow.hears(/^WATCHDOG=1$/, 3);
        process.kill(relay.pid, 'SIGTERM');
        expect((await relay.ended).code).to.equal(0);
        expect(slow.messages).to.deep.equal(['READY=1', 'STOPPING=1']);
      });
    } finally {
      await slow.stop();
    }
  });

  it('says once that there is no systemd-notify, and goes on', async () => {
    const env = { ...manager.environment, PATH: '/nowhere', WATCHDOG_USEC: '2000' };
    await withRelay(env, async (relay, port) => {
      const isWarning = ({ level, error }: Record<string, unknown>) =>
        level === 'warn' && error !== undefined;
      const warning = await relay.logLine(isWarning);
      expect(warning).to.include({ error: 'ENOENT' });
      expect(warning['msg']).to.contain('systemd-notify');
      expect((await send(port, { path: '/readyz' })).status).to.equal(200);
      process.kill(relay.pid, 'SIGTERM');
      expect((await relay.ended).code).to.equal(0);
      expect(relay.logLines.filter(isWarning)).to.have.lengthOf(1);
    });
  });
});
