import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { loadSteadily } from '../../harness/client/steady-load.ts';
import { canariesIn, canary } from '../../harness/expect/canaries.ts';
import {
  expectError,
  expectRedirect,
  expectToken,
  expectUser,
} from '../../harness/expect/expectations.ts';
import { sealLogin } from '../../harness/login/sealed-login.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import {
  baseUrl,
  callbackPath,
  frontendOrigin,
  loginPath,
  registration,
  userPath,
} from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { BootedSystem } from './booted-system.ts';

const operations = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
const restarts = 20;
const key = 'the-key-of-this-very-service-00001';
const requestsPerSecond = 200;
const executable = process.env['LOGIN_RELAY'];
const relay = executable
  ? '/usr/local/bin/login-relay'
  : '/opt/login-relay/scripts/node /opt/login-relay/bin/login-relay.ts';

/** The service that `login-relay systemd` prints, in a system with systemd. */
describe('the service', function () {
  this.timeout(180_000);
  let system: BootedSystem;
  let provider: StrictProvider;
  let port = 0;

  before(async () => {
    provider = await StrictProvider.start(registration());
    port = await freePort();
    system = await BootedSystem.boot();
    const settings = {
      FRONTEND_ORIGIN: frontendOrigin,
      BASE_URL: baseUrl,
      PROVIDER_CLIENT_ID: provider.registration.clientId,
      PROVIDER_AUTHORIZE_URL: provider.authorizeUrl,
      PROVIDER_TOKEN_URL: provider.tokenUrl,
      PROVIDER_USER_URL: provider.userUrl,
      PORT: `${port}`,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    system.run(`
      ${executable ? `install /opt/login-relay/${relativeToProject(executable)} ${relay}` : ''}
      units=/etc/systemd/system
      ${relay} systemd >$units/login-relay.service
      ${relay} systemd --socket | sed s/127.0.0.1:8000/127.0.0.1:${port}/ >$units/login-relay.socket
      echo '${lines.join('')}' >/etc/default/login-relay
      mkdir --mode 700 /etc/login-relay
      echo ${provider.registration.clientSecret} >/etc/login-relay/client-secret
      systemctl daemon-reload
      systemctl enable --now login-relay
    `);
  });

  after(async () => {
    await system?.stop();
    await provider?.stop();
  });

  const mainProcess = () =>
    system.run('systemctl show --property MainPID --value login-relay').trim();
  const journal = () => system.run('journalctl --no-pager --output cat --unit login-relay');

  it('is ready when it answers, in its sandbox', async () => {
    expect(system.run(`PORT=${port} ${relay} health`)).to.equal('ready\n');
    expectToken(await send(port, { path: `${callbackPath}?code=${canary('code')}` }));
    const status = system.run(`cat /proc/${mainProcess()}/status`);
    expect(status)
      .to.match(/^Seccomp:\t2$/m)
      .and.match(/^NoNewPrivs:\t1$/m);
    expect(status)
      .to.match(/^CapEff:\t0+$/m)
      .and.not.match(/^Uid:\t0\t/m);
  });

  it('reads its files again on a reload, in the same process, and logs that systemd copied none', () => {
    const before = mainProcess();
    system.run('systemctl reload login-relay');
    while (!journal().includes('reloaded, but nothing has changed: systemd copies credentials'));
    expect(system.run('systemctl is-active login-relay')).to.equal('active\n');
    expect(mainProcess()).to.equal(before);
  });

  it(`loses no request in ${restarts} restarts at ${requestsPerSecond} requests a second`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 8, scheduling: 'fifo' });
    const load = loadSteadily(requestsPerSecond, async (index) => {
      const how = index % 2 === 0 ? {} : { agent };
      const token: [string, string] = ['Authorization', `Bearer ${canary('token')}`];
      const code = canary('code');
      const kinds = [
        async () => expectRedirect(await send(port, { path: loginPath, ...how })),
        async () => expectToken(await send(port, { path: `${callbackPath}?code=${code}`, ...how })),
        async () => expectUser(await send(port, { path: userPath, headers: [token], ...how })),
      ];
      await kinds[Math.floor(index / 2) % kinds.length]?.();
    });
    for (let restart = 0; restart < restarts; restart += 1) {
      // The unit allows fewer than ten starts within ten seconds.
      await load.progress(requestsPerSecond * 1.2);
      system.run('systemctl restart --no-block login-relay');
    }
    await load.progress(requestsPerSecond);
    const { answered, lost, slowest, rate } = await load.stop();
    agent.destroy();
    const figures = `${answered} answered, ${Math.round(rate)}/s, slowest ${Math.round(slowest)} ms`;
    process.stdout.write(`    ${figures}, ${lost.length} lost\n`);
    expect(lost).to.deep.equal([]);
    expect(journal().split('"stopping"')).to.have.lengthOf(restarts + 1);
  });

  it('is restarted if it ends or hangs, and answers clients that connected in the meantime', async () => {
    system.run(`
      mkdir /run/systemd/system/login-relay.service.d
      printf '[Service]\\nWatchdogSec=1s\\n' >/run/systemd/system/login-relay.service.d/watchdog.conf
      systemctl daemon-reload
      systemctl restart login-relay
    `);
    for (const signal of ['KILL', 'STOP']) {
      const before = mainProcess();
      system.run(`kill -${signal} ${before}`);
      expectRedirect(await send(port, { path: loginPath }));
      expect(mainProcess()).to.not.equal(before);
    }
    expect(journal()).to.contain('Watchdog timeout');
  });

  it('runs on several ports from one template, each with its own settings', async () => {
    const ports = [await freePort(), await freePort()];
    const metricsPort = await freePort();
    const instances = ports.map((instance) => `login-relay@${instance}`).join(' ');
    system.run(`
      ${relay} systemd --template >/etc/systemd/system/login-relay@.service
      echo METRICS_PORT=${metricsPort} >/etc/default/login-relay-${ports[1]}
      systemctl daemon-reload
      systemctl start ${instances}
    `);
    for (const instance of ports) {
      expectToken(await send(instance, { path: `${callbackPath}?code=${canary('code')}` }));
    }
    const { body } = await send(metricsPort, { path: '/metrics' });
    expect(`${body}`).to.contain('\nlogin_relay_ready 1\n');
    system.run(`systemctl stop ${instances}`);
    expect(system.run(`systemctl is-failed ${instances} || true`)).to.equal('inactive\n'.repeat(2));
  });

  it('logs missing settings as errors in its journal', () => {
    system.run('systemctl stop login-relay.socket login-relay.service');
    system.run(`
      mv /etc/login-relay/client-secret /etc/login-relay/aside
      cp /etc/default/login-relay /etc/default/aside
      sed -i 's/^BASE_URL=.*/BASE_URL=/' /etc/default/login-relay
    `);
    const errors = () => system.run('journalctl --output cat --unit login-relay --priority err');
    const start = 'systemctl start login-relay || true';
    system.run(start);
    expect(errors())
      .to.contain('login-relay cannot start:')
      .and.contain('--base-url (BASE_URL) is empty')
      .and.contain('--client-secret-file (PROVIDER_CLIENT_SECRET_FILE) is required');
    system.run(`rm /etc/default/login-relay; ${start}`);
    expect(errors())
      .to.contain('--origin (FRONTEND_ORIGIN) is required')
      .and.contain('--client-id (PROVIDER_CLIENT_ID) is required');
    system.run(`
      mv /etc/login-relay/aside /etc/login-relay/client-secret
      mv /etc/default/aside /etc/default/login-relay
      systemctl reset-failed
      systemctl start login-relay
    `);
  });

  it('creates a key file that only it can read, and uses it in every instance', () => {
    const file = '/var/lib/login-relay/key';
    expect(system.run(`stat -c %a ${file}`)).to.equal('600\n');
    const [made, ...others] =
      system.run('journalctl --output cat | grep "KEY_FILE"').match(/created \S+/g) ?? [];
    expect({ made, others }).to.deep.equal({ made: `created ${file}.`, others: [] });
  });

  it('can be checked with its own settings, secret and key file, as the manual says', () => {
    const [command = ''] = /systemd-run --pty [^`]*login-relay check/.exec(operations) ?? [];
    const inPipe = command.replace('--pty', '--pipe --wait --quiet');
    const report = system.run(`${inPipe.replace(/login-relay check$/, `${relay} check`)} || true`);
    expect(report).to.contain(baseUrl);
    expect(report).to.match(/--key-file +\/var\/lib\/login-relay\/key/);
    expect(report).to.not.contain('cannot start');
  });

  it('uses the key file of the operator if there is one', async () => {
    const login = sealLogin(provider, { key });
    const path = `${callbackPath}?code=${login.code}&state=${login.state}`;
    const cookie: [string, string] = ['Cookie', `${login.cookie.name}=${login.cookie.value}`];
    expectError(await send(port, { path, headers: [cookie] }), 400);
    system.run(`
      (umask 077; echo ${key} >/etc/login-relay/key)
      systemctl restart login-relay
    `);
    expectToken(await send(port, { path, headers: [cookie] }));
  });

  it('shows no secret, code or token in journal, arguments, environment or title', () => {
    const pid = mainProcess();
    for (const path of ['cmdline', 'environ', 'comm', 'status']) {
      expect([...canariesIn(system.run(`tr '\\0' ' ' </proc/${pid}/${path}`))], path).to.deep.equal(
        [],
      );
    }
    expect([...canariesIn(system.run('journalctl --no-pager'))]).to.deep.equal([]);
    expect([...canariesIn(system.run('systemctl show login-relay'))]).to.deep.equal([]);
  });
});

function relativeToProject(path: string): string {
  return path.slice(new URL('../../..', import.meta.url).pathname.length);
}
