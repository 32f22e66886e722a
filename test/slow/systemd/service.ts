import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { LoginTraffic } from '../../harness/client/login-traffic.ts';
import { loadSteadily } from '../../harness/client/steady-load.ts';
import { canariesIn, canary } from '../../harness/expect/canaries.ts';
import { expectError, expectRedirect, expectToken } from '../../harness/expect/expectations.ts';
import { sealLogin } from '../../harness/login/sealed-login.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import {
  baseUrl,
  callbackPath,
  frontendOrigin,
  loginPath,
  registration,
} from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { BootedSystem } from './booted-system.ts';

const restarts = 20;
const key = 'the-key-of-this-very-service-00001';
const requestsPerSecond = 200;
const config = '/etc/login-relay/config.yaml';

const executable = process.env['LOGIN_RELAY'];
const project = new URL('../../..', import.meta.url).pathname;
const installRelay = executable
  ? `install /opt/login-relay/${executable.slice(project.length)} /usr/local/bin/login-relay`
  : `printf '#!/bin/sh\\nexec /opt/login-relay/scripts/node /opt/login-relay/bin/login-relay.ts "$@"\\n' |
      install /dev/stdin /usr/local/bin/login-relay`;

/** The commands of the manual that install the service, for root. They print nothing. */
function manualCommands(): string {
  const manual = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8');
  const [commands] = /^sudo useradd [^`]*/m.exec(manual) ?? expect.fail('no such commands');
  return `sudo() { "$@"; }\n${commands.replaceAll('| sudo tee ', '| tee >/dev/null ')}`;
}

/** The service that `login-relay systemd` prints, in a system with systemd. */
describe('the service', () => {
  let system: BootedSystem;
  let provider: StrictProvider;
  let port = 0;

  before(async () => {
    provider = await StrictProvider.start(registration());
    system = await BootedSystem.boot();
    port = await freePort();
    system.run(`
      ${installRelay}
      ${manualCommands()}
      sed -i s/127.0.0.1:8000/127.0.0.1:${port}/ /etc/systemd/system/login-relay.socket
      echo ${provider.registration.clientSecret} |
        install -m 640 /dev/stdin /etc/login-relay/client-secret
      systemctl daemon-reload
    `);
    configure(settings());
    system.run('systemctl enable --now login-relay');
  });

  after(async () => {
    await system?.stop();
    await provider?.stop();
  });

  /** The settings of a relay at the provider. */
  const settings = () => ({
    'base-url': baseUrl,
    'key-file': '/var/lib/login-relay/key',
    providers: {
      provider: {
        'client-id': provider.registration.clientId,
        'client-secret-file': './client-secret',
        'authorize-url': provider.authorizeUrl,
        'token-url': provider.tokenUrl,
        'user-url': provider.userUrl,
        'token-request': 'query',
      },
    },
    'front-ends': { app: { origin: frontendOrigin } },
  });
  // JSON is YAML.
  const configure = (changed: object) => system.run(`echo '${JSON.stringify(changed)}' >${config}`);
  const mainProcess = () => system.run('systemctl show --property MainPID --value login-relay').trim();
  const journal = () => system.run('journalctl --no-pager --output cat --unit login-relay');

  it('is ready when it answers, in its sandbox', async () => {
    const health = system.run(`login-relay health --port ${port}`);
    expect(health).to.equal(`ready at http://127.0.0.1:${port}\n`);
    expectToken(await send(port, { path: `${callbackPath}?code=${canary('code')}` }));
    const status = system.run(`cat /proc/${mainProcess()}/status`);
    expect(status)
      .to.match(/^Seccomp:\t2$/m)
      .and.match(/^NoNewPrivs:\t1$/m);
    expect(status)
      .to.match(/^CapEff:\t0+$/m)
      .and.not.match(/^Uid:\t0\t/m);
  });

  it('reads the configuration file again on a reload, in the same process', async () => {
    const before = mainProcess();
    configure({
      ...settings(),
      'front-ends': { other: { origin: 'https://other.example' } },
    });
    system.run('systemctl reload login-relay');
    while (!journal().includes(`"changed":["${config}"]`)) await new Promise(setImmediate);
    const landing = async () => {
      const path = `${callbackPath}?code=${canary('code')}`;
      return expectRedirect(await send(port, { path })).origin;
    };
    expect(await landing()).to.equal('https://other.example');
    configure({ ...settings(), 'front-ends': {} });
    system.run('systemctl reload login-relay');
    while (!journal().includes('not reloaded')) await new Promise(setImmediate);
    expect(await landing()).to.equal('https://other.example');
    expect(system.run('systemctl is-active login-relay')).to.equal('active\n');
    expect(mainProcess()).to.equal(before);
    configure(settings());
    system.run('systemctl restart login-relay');
  });

  it(`loses no request in ${restarts} restarts at ${requestsPerSecond} requests a second`, async () => {
    const before = journal().split('"stopping"').length;
    const traffic = new LoginTraffic(() => ({ port, provider }));
    const load = loadSteadily(requestsPerSecond, traffic.request);
    for (let restart = 0; restart < restarts; restart += 1) {
      // The unit allows fewer than ten starts within ten seconds.
      await load.progress(requestsPerSecond * 1.2);
      system.run('systemctl restart --no-block login-relay');
    }
    await load.progress(requestsPerSecond);
    const { answered, lost, slowest, rate } = await load.stop();
    await traffic.end();
    const figures = `${answered} answered, ${Math.round(rate)}/s, slowest ${Math.round(slowest)} ms`;
    process.stdout.write(`    ${figures}, ${lost.length} lost\n`);
    expect(lost).to.deep.equal([]);
    const after = journal().split('"stopping"').length;
    expect(after - before).to.equal(restarts);
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
      login-relay systemd --template >/etc/systemd/system/login-relay@.service
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

  it('logs a missing file and a missing secret as errors in its journal', () => {
    system.run('systemctl stop login-relay.socket login-relay.service');
    system.run(`mv ${config} /root/config; mv /etc/login-relay/client-secret /root/secret`);
    const errors = () => system.run('journalctl --output cat --unit login-relay --priority err');
    const start = 'systemctl start login-relay || true';
    system.run(start);
    expect(errors())
      .to.contain('login-relay cannot start:')
      .and.contain('--config (LOGIN_RELAY_CONFIG)')
      .and.contain('names a file that does not exist');
    system.run(`mv /root/config ${config}; ${start}`);
    expect(errors()).to.contain('client-secret-file names a file that does not exist');
    system.run(`
      mv /root/secret /etc/login-relay/client-secret
      systemctl reset-failed
      systemctl start login-relay
    `);
  });

  it('creates a key file that only it can read, and uses it in every instance', () => {
    const file = '/var/lib/login-relay/key';
    expect(system.run(`stat -c '%a %U' ${file}`)).to.equal('600 login-relay\n');
    const made = system.run('journalctl --output cat').match(/created \/\S+/g);
    expect(made).to.deep.equal([`created ${file}.`]);
  });

  for (const user of ['root', 'login-relay']) {
    it(`can be checked by ${user}, with its file, secret and key file`, () => {
      const command = `login-relay check --config ${config}`;
      const report = system.run(`runuser -u ${user} -- sh -c 'cd /; ${command} || true' 2>&1`);
      expect(report).to.contain(baseUrl);
      expect(report).to.not.match(/cannot start|key-file [a-z]|may not read/);
    });
  }

  it('uses the key file of the operator after a reload', async () => {
    const login = sealLogin(provider, { key });
    const path = `${callbackPath}?code=${login.code}&state=${login.state}`;
    const cookie: [string, string] = ['Cookie', `${login.cookie.name}=${login.cookie.value}`];
    expectError(await send(port, { path, headers: [cookie] }), 400);
    system.run(`echo ${key} | install -m 640 /dev/stdin /etc/login-relay/key`);
    configure({ ...settings(), 'key-file': './key' });
    system.run('systemctl reload login-relay');
    while (!journal().includes('"/etc/login-relay/key"')) await new Promise(setImmediate);
    expectToken(await send(port, { path, headers: [cookie] }));
  });

  it('shows no secret, code or token in journal, arguments, environment or title', () => {
    const pid = mainProcess();
    for (const path of ['cmdline', 'environ', 'comm', 'status']) {
      expect([...canariesIn(system.run(`tr '\\0' ' ' </proc/${pid}/${path}`))], path).to.deep.equal([]);
    }
    expect([...canariesIn(system.run('journalctl --no-pager'))]).to.deep.equal([]);
    expect([...canariesIn(system.run('systemctl show login-relay'))]).to.deep.equal([]);
  });
});
