import { expect } from 'chai';
import { withRelay } from '../../harness/relay/relay-under-test.ts';
import { ServiceManager } from '../../harness/relay/service-manager.ts';
import { needs } from '../../harness/system/needs.ts';

const { describe } = needs('Linux', process.platform === 'linux');

describe('a relay that is started by a service manager', () => {
  let manager: ServiceManager;
  // One for each test, because messages of a relay may arrive after its end.
  beforeEach(async () => {
    manager = await ServiceManager.start();
  });
  afterEach(async () => await manager.stop());

  it('notifies when it is ready, when it reloads, and when it stops', async () => {
    await withRelay({ env: manager.environment }, async ({ process: relay }) => {
      await manager.hears(/^READY=1$/);
      process.kill(relay.pid, 'SIGHUP');
      await manager.hears(/^READY=1$/, 2);
      expect((await relay.stop()).code).to.equal(0);
      await manager.hears(/^STOPPING=1$/);
      const [reloading = '', ...others] = manager.messages.splice(1, 3);
      expect(reloading).to.match(/^RELOADING=1 MONOTONIC_USEC=\d+$/);
      expect(others).to.deep.equal(['READY=1', 'STOPPING=1']);
    });
  });

  it('sends watchdog notifications if a watchdog is set', async () => {
    const env = { ...manager.environment, WATCHDOG_USEC: '200000' };
    await withRelay({ env }, async () => {
      await manager.hears(/^WATCHDOG=1$/, 3);
    });
  });

  it('sends no watchdog notifications if another process is watched', async () => {
    const env = { ...manager.environment, WATCHDOG_USEC: '2000', WATCHDOG_PID: '1' };
    await withRelay({ env }, async ({ process: relay }) => {
      await manager.hears(/^READY=1$/);
      await relay.stop();
      await manager.hears(/^STOPPING=1$/);
      expect(manager.notifications.map(({ message }) => message)).to.deep.equal(['READY=1', 'STOPPING=1']);
    });
  });

  it('passes no other variable or descriptor to systemd-notify', async () => {
    const launcher = ['sh', '-c', 'exec 3</dev/null "$@"', 'sh'];
    const act = async () => {
      await manager.hears(/^READY=1$/);
      const [{ variables, passed } = { variables: [], passed: '' }] = manager.notifications;
      expect(variables).to.have.members(['NOTIFY_SOCKET', 'PATH']);
      expect(passed).to.not.equal('/dev/null');
    };
    await withRelay({ env: manager.environment, launcher }, act);
  });

  it('ends in time even if watchdog notifications are slower than their interval', async () => {
    const slow = await ServiceManager.start(300);
    try {
      const env = { ...slow.environment, WATCHDOG_USEC: '2000' };
      await withRelay({ env }, async ({ process: relay }) => {
        await slow.hears(/^WATCHDOG=1$/, 3);
        expect((await relay.stop()).code).to.equal(0);
        await slow.hears(/^STOPPING=1$/);
        expect(slow.messages).to.deep.equal(['READY=1', 'STOPPING=1']);
      });
    } finally {
      await slow.stop();
    }
  });

  it('logs once that systemd-notify is missing, and continues', async () => {
    const env = { ...manager.environment, PATH: '/nowhere', WATCHDOG_USEC: '2000' };
    await withRelay({ env }, async (underTest) => {
      const { process: relay } = underTest;
      const isWarning = ({ level, error }: Record<string, unknown>) => level === 'warn' && error !== undefined;
      const warning = await relay.logLine(isWarning);
      expect(warning).to.include({ error: 'ENOENT' });
      expect(warning['msg']).to.contain('systemd-notify');
      expect((await underTest.get('/readyz')).status).to.equal(200);
      expect((await relay.stop()).code).to.equal(0);
      expect(relay.logLines.filter(isWarning)).to.have.lengthOf(1);
    });
  });
});
