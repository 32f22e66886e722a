import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { LoginTraffic } from '../../harness/client/login-traffic.ts';
import { loadSteadily } from '../../harness/client/steady-load.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectToken } from '../../harness/expect/expectations.ts';
import { type Invocation, runRelay } from '../../harness/relay/relay-process.ts';
import {
  baseUrl,
  frontendOrigin,
  type RelayUnderTest,
  startRelay,
  withRelay,
} from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';

const supervisor = fileURLToPath(new URL('../../harness/relay/supervise.sh', import.meta.url));
// `scripts/long restarts` sets 20, and prints the figures.
const restarts = Number(process.env['RESTARTS'] ?? 3);
const requestsPerSecond = 200;

/** A relay that systemd-socket-activate starts, on a port that is not configured. */
async function withActivatedRelay(
  act: (underTest: RelayUnderTest) => Promise<void>,
  { launcher = [], flags = {} }: Pick<Invocation, 'launcher' | 'flags'> = {},
): Promise<void> {
  const port = await freePort();
  await withRelay(
    {
      port,
      launcher: ['systemd-socket-activate', '--listen', `127.0.0.1:${port}`, ...launcher],
      flags: { port: '1', host: '192.0.2.1', ...flags },
    },
    async (underTest) => {
      await act(underTest);
      expect(underTest.provider.violations).to.deep.equal([]);
    },
  );
}

const { describe } = needsPrograms('systemd-socket-activate');

describe('a relay on a socket that systemd has passed', () => {
  it('answers there, and not at the configured port, and logs that', async () => {
    const flags = {
      'trusted-proxies': '127.0.0.1',
      'token-request': 'query',
      'refresh-tokens': 'off',
    };
    const act = async (underTest: RelayUnderTest) => {
      const { process: relay, port } = underTest;
      const line = await relay.logLine(({ msg }) => msg === 'listening');
      expect(line).to.include({ address: `http://127.0.0.1:${port}`, socketActivated: true });
      const warnings = relay.logLines.filter(({ level }) => level === 'warn');
      expect(warnings.map(({ msg }) => msg)).to.deep.equal([
        '--port (PORT) has no effect: systemd passes the socket to listen on',
        '--host (HOST) has no effect: systemd passes the socket to listen on',
      ]);
      expectToken(await underTest.logIn());
      expect((await relay.stop()).code).to.equal(0);
    };
    await withActivatedRelay(act, { flags });
  });

  it('loses no request while it is stopped and started again and again', async function () {
    this.timeout(300_000 + restarts * 10_000);
    await withActivatedRelay(
      async (underTest) => {
        const { process: supervised } = underTest;
        const pids = () => supervised.logLines.flatMap(({ pid }) => (pid ? [Number(pid)] : []));
        const starts = () => supervised.logLines.filter(({ msg }) => msg === 'listening').length;
        const endLatest = () =>
          pids()
            .slice(-1)
            .map((pid) => process.kill(pid, 'SIGTERM'));
        const traffic = new LoginTraffic(() => underTest);
        const load = loadSteadily(requestsPerSecond, traffic.request);
        try {
          for (let restart = 0; restart < restarts; restart += 1) {
            await load.progress(requestsPerSecond / 2);
            const before = starts();
            endLatest();
            await supervised.output(() => starts() > before || undefined);
          }
          const { answered, lost, slowest, rate } = await load.stop();
          if (process.env['RESTARTS']) {
            const figures = `${answered} answered, ${Math.round(rate)}/s, slowest ${Math.round(slowest)} ms`;
            process.stdout.write(`    ${restarts} restarts: ${figures}, ${lost.length} lost\n`);
          }
          await traffic.end();
          expect(lost).to.deep.equal([]);
          expect(answered).to.be.at.least((restarts * requestsPerSecond) / 2);
        } finally {
          const ended = supervised.stop('SIGKILL');
          // It has no supervisor any more.
          endLatest();
          await ended;
        }
      },
      { launcher: [supervisor] },
    );
  });

  it('opens its own port if the socket was passed to another process', async () => {
    const underTest = await startRelay({}, {}, { env: { LISTEN_PID: '1', LISTEN_FDS: '1' } });
    const line = await underTest.process.logLine(({ msg }) => msg === 'listening');
    expect(line).to.not.have.property('socketActivated');
    await underTest.stop();
  });

  const noListener = 'the passed socket is not a stream socket that listens';
  for (const [what, preparation, fault] of [
    ['a file', 'exec 3</dev/null; LISTEN_FDS=1', noListener],
    ['no descriptor at all', 'exec 3<&-; LISTEN_FDS=1', noListener],
    ['a datagram socket', 'exec 3<>/dev/udp/127.0.0.1/9; LISTEN_FDS=1', noListener],
    ['two sockets', 'LISTEN_FDS=2', 'LISTEN_FDS must be 1'],
  ] as const) {
    it(`does not start on ${what}`, async () => {
      const { code, stderr } = await runRelay({
        launcher: ['bash', '-c', `${preparation} LISTEN_PID=$$ exec "$@"`, 'bash'],
        flags: { origin: frontendOrigin, 'base-url': baseUrl, 'client-id': 'client' },
        env: { PROVIDER_CLIENT_SECRET: canary('secret') },
      });
      expect(code).to.equal(2);
      expect(stderr).to.contain(fault);
    });
  }
});
