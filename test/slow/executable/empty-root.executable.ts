import { chownSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { expectToken, expectUser } from '../../harness/expect/expectations.ts';
import { projectRoot, run } from '../../harness/project/run.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import { type Invocation, RelayProcess, runRelay } from '../../harness/relay/relay-process.ts';
import { flagsFor, listening, RelayUnderTest, registration } from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsRoot } from '../../harness/system/needs.ts';

const { describe } = needsRoot('ldd', 'chroot');

describe('the executable with only its linked libraries', () => {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-empty-root-'));
  const root = join(directory, 'root');
  const executable = process.env['LOGIN_RELAY'] ?? '';
  const launcher = ['chroot', '--userspec=65532:65532', root];

  before('the root is made', () => {
    const { code, stderr } = run('deploy/docker/image-root.sh', [executable, root]);
    expect(code, stderr).to.equal(0);
    // The path under which the tests call it.
    mkdirSync(join(root, dirname(executable)), { recursive: true });
    renameSync(join(root, 'usr/bin/login-relay'), join(root, executable));
  });

  after('the root is removed', () => rmSync(directory, { recursive: true }));

  const inside = (invocation: Invocation): Invocation => ({ ...invocation, launcher });

  async function withProvider(use: (provider: StrictProvider, invocation: Invocation) => Promise<void>): Promise<void> {
    const provider = await StrictProvider.start(registration());
    const flags = { ...flagsFor(provider, ''), 'client-secret-file': undefined };
    const env = { PROVIDER_CLIENT_SECRET: provider.registration.clientSecret };
    await use(provider, inside({ flags, env })).finally(() => provider.stop());
  }

  it('logs in and looks up a user', async () => {
    await withProvider(async (provider, invocation) => {
      const { relay, port } = await listening(invocation);
      const underTest = new RelayUnderTest(relay, port, provider);
      const token = expectToken(await underTest.logIn());
      expectUser(await underTest.lookUp(`Bearer ${token}`));
      expect(provider.violations).to.deep.equal([]);
      expect(await relay.stop()).to.include({ code: 0, stderr: '' });
    });
  });

  it('starts from the template and the files that the docker command of the manual mounts', async () => {
    const template = readFileSync(join(projectRoot, 'deploy/config.yaml'), 'utf8')
      .replace(/^base-url:/m, '$& https://login.example.com')
      .replace(/^ +client-id:/m, '$& Ov23liEXAMPLE')
      .replace(/^ +origin:/m, '$& https://app.example.com');
    const mounted = {
      '/etc/login-relay/config.yaml': template,
      '/etc/login-relay/client-secret': 'a client secret',
      '/var/lib/login-relay/key': 'a secret of more than 32 characters',
    };
    for (const [path, content] of Object.entries(mounted)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), content, { mode: 0o400 });
      chownSync(join(root, path), 65532, 65532);
    }
    const env = { LOGIN_RELAY_CONFIG: '/etc/login-relay/config.yaml', PORT: `${await freePort()}` };
    const { relay, callbackUrl } = await listening(inside({ env: { ...env, HOST: '0.0.0.0' } }));
    expect(callbackUrl).to.equal('https://login.example.com/auth/github/callback');
    expect(await runRelay(inside({ words: ['health'], env }))).to.include({
      stdout: `ready at http://127.0.0.1:${env.PORT}\n`,
    });
    expect(await relay.stop()).to.include({ code: 0, stderr: '' });
  });

  it('checks a configuration and its provider', async () => {
    await withProvider(async (provider, invocation) => {
      const { stdout, stderr } = await runRelay({ ...invocation, words: ['check', '--verbose'] });
      expect(stderr).to.equal('');
      expect(stdout).to.contain(provider.tokenUrl);
    });
  });

  it('prints its manual page, with the date of the release, and the completions', async () => {
    const date = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) * 1000);
    const env = { SOURCE_DATE_EPOCH: '1700000000' };
    const man = await runRelay(inside({ words: ['man'], env }));
    expect(man).to.include({ code: 0, stderr: '' });
    expect(man.stdout).to.contain(`.TH LOGIN-RELAY 1 ${date.toISOString().slice(0, 10)} `);
    const { stdout } = await runRelay(inside({ words: ['completion', 'bash'] }));
    expect(stdout).to.contain('complete -F _login_relay login-relay');
  });

  it('runs the demo, up to a user record', async () => {
    const demo = new RelayProcess(inside({ words: ['demo'], flags: { port: '0' } }));
    const url = (of: string) => demo.output((text) => new RegExp(`^ *${of} +(http:\\S+)$`, 'm').exec(text)?.[1]);
    const frontEnd = await url('front end');
    const relay = await url('relay');
    expect((await fetch(frontEnd)).status).to.equal(200);
    const browser = new FakeBrowser();
    const loginPage = await browser.visit(`${relay}/auth/provider`);
    const { url: landed } = await browser.submit(loginPage, { name: 'Ada Lovelace' });
    expect(landed.href).to.contain(frontEnd);
    const authorization = `Bearer ${landed.searchParams.get('access_token')}`;
    const user = await fetch(`${relay}/api/user`, { headers: { authorization } });
    expect(await user.json()).to.include({ login: 'ada-lovelace' });
    expect(await demo.stop()).to.include({ code: 0, stderr: '' });
  });
});
