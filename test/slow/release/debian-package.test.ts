import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Option } from '../../../src/config/option.ts';
import { options } from '../../../src/config/options.ts';
import { deadLinks } from '../../harness/project/links.ts';
import { projectRoot, run, runScript } from '../../harness/project/run.ts';
import { needsPrograms, needsRoot } from '../../harness/system/needs.ts';

const version = `${packageJson.version}-1`;
const throwawaySystem = `${projectRoot}/test/slow/release/support/throwaway-system.sh`;
// The test checks what surrounds the binary. So any other program replaces it.
const binary = '/bin/true';

const { describe } = needsPrograms('dpkg-deb', 'lintian', 'unshare');

describe('the Debian package', function () {
  this.timeout(60_000);
  const dist = mkdtempSync(join(tmpdir(), 'login-relay-debian-'));
  const file = join(dist, `login-relay_${version}_amd64.deb`);

  before('the package is built', () => {
    expect(run('scripts/share.sh', [join(dist, 'share')])).to.include({ code: 0, stderr: '' });
    writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), runScript('third-party-licenses.ts'));
    build('amd64');
  });

  after('the package is removed', () => rmSync(dist, { recursive: true }));

  function build(architecture: string, env: Record<string, string> = {}): void {
    const args = [architecture, binary, dist];
    runScript('debian-package.ts', { args, env: { SOURCE_DATE_EPOCH: '1700000000', ...env } });
  }

  it('has the same bytes for the same commit', () => {
    const digest = () => createHash('sha256').update(readFileSync(file)).digest('hex');
    const first = digest();
    build('amd64');
    expect(digest()).to.equal(first);
  });

  it('is made for arm64 too', () => {
    build('arm64');
    const { stdout } = run('dpkg-deb', ['--field', file.replace('amd64', 'arm64'), 'Architecture']);
    expect(stdout).to.equal('arm64\n');
  });

  it('names its maintainer as Debian’s tools do', () => {
    build('arm64', { DEBFULLNAME: 'Ada Lovelace', DEBEMAIL: 'ada@example.org' });
    const { stdout } = run('dpkg-deb', ['--field', file.replace('amd64', 'arm64'), 'Maintainer']);
    expect(stdout).to.equal('Ada Lovelace <ada@example.org>\n');
  });

  it('causes no warning of lintian', () => {
    const args = ['--allow-root', '--fail-on', 'error,warning', file];
    expect(run('lintian', args)).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });

  it('contains the files that the relay needs', () => {
    const { stdout } = run('dpkg-deb', ['--contents', file]);
    const examples = [...stdout.matchAll(/doc\/login-relay\/examples\/(.*[^/])$/gm)];
    expect(examples.map(([, path]) => path)).to.include.members([
      'haproxy/haproxy.cfg',
      'nginx/login-relay.conf',
      'caddy/Caddyfile',
      'prometheus/login-relay.rules.yaml',
      'grafana/login-relay.json',
      'kubernetes/deployment.yaml',
    ]);
  });

  it('contains every file that its pages link to', () => {
    const root = join(dist, 'unpacked');
    expect(run('dpkg-deb', ['--extract', file, root])).to.include({ code: 0 });
    const documentation = join(root, 'usr/share/doc/login-relay');
    expect(readdirSync(documentation)).to.include.members(readdirSync(join(projectRoot, 'docs')));
    expect(deadLinks(documentation)).to.deep.equal([]);
  });

  it('has a template with the required settings, and only existing variables', () => {
    const template = readFileSync(`${projectRoot}/deploy/systemd/login-relay.default`, 'utf8');
    const named = template.match(/^#?[A-Z_]+(?==)/gm) ?? [];
    expect(named).to.include.members(['FRONTEND_ORIGIN', 'PROVIDER_CLIENT_ID', 'BASE_URL']);
    const variables = Object.values<Option>(options).map(({ variable }) => variable);
    expect(variables).to.include.members(named.map((name) => name.replace('#', '')));
  });

  needsRoot().describe('in a system', () => {
    /** The output of the commands in a temporary system. */
    function inThrowawaySystem(...commands: string[]): string[] {
      const { code, stdout, stderr } = run(throwawaySystem, [dist, commands.join('\n')]);
      expect(code, stdout + stderr).to.equal(0);
      return stdout.split('\n').slice(0, -1);
    }

    const quietly = '>/dev/null 2>&1';
    const install = `dpkg --no-triggers -i /mnt/login-relay_${version}_amd64.deb ${quietly}`;
    const configure = [
      'sed -i s,^BASE_URL=.*,BASE_URL=https://mine.example, /etc/default/login-relay',
      'echo secret >/etc/login-relay/client-secret',
      'command -p env PATH=/usr/bin systemctl --root=/ enable login-relay 2>/dev/null',
      ': >/systemctl.log',
    ];

    it('installs the binary, the units, the manual page, the completions and the licences', () => {
      expect(
        inThrowawaySystem(
          install,
          String.raw`dpkg -L login-relay | grep -v '/examples\|[a-z]\.\(md\|svg\|json\)$' | while read f; do [ -d "$f" ] || echo "$f"; done`,
        ),
      ).to.have.members([
        '/etc/default/login-relay',
        '/usr/bin/login-relay',
        '/usr/lib/systemd/system/login-relay.service',
        '/usr/lib/systemd/system/login-relay.socket',
        '/usr/lib/systemd/system/login-relay@.service',
        '/usr/share/bash-completion/completions/login-relay',
        '/usr/share/doc/login-relay/THIRD-PARTY-LICENSES.txt.gz',
        '/usr/share/doc/login-relay/changelog.Debian.gz',
        '/usr/share/doc/login-relay/changelog.gz',
        '/usr/share/doc/login-relay/copyright',
        '/usr/share/fish/vendor_completions.d/login-relay.fish',
        '/usr/share/lintian/overrides/login-relay',
        '/usr/share/man/man1/login-relay.1.gz',
        '/usr/share/man/man5/login-relay.yaml.5.gz',
        '/usr/share/zsh/vendor-completions/_login-relay',
      ]);
    });

    it('hides the configuration and the secret from other users', () => {
      const paths = '/etc/default/login-relay /etc/login-relay';
      expect(inThrowawaySystem(install, `stat -c '%n %a %U:%G' ${paths}`)).to.deep.equal([
        '/etc/default/login-relay 640 root:root',
        '/etc/login-relay 700 root:root',
      ]);
    });

    it('lets the relay create the key file, and keeps an existing one', () => {
      const list = 'ls /etc/login-relay';
      const before = ['echo mine >/etc/login-relay/key', 'echo old >/etc/login-relay/state-key'];
      const upgrade = [...before, install, 'cat /etc/login-relay/key'];
      expect(inThrowawaySystem(install, list, ...upgrade)).to.deep.equal(['mine']);
    });

    it('renames the key file of 0.1 when it is upgraded', () => {
      const before = '(umask 077; echo old >/etc/login-relay/state-key)';
      const after = ["stat -c '%n %a' /etc/login-relay/*", 'cat /etc/login-relay/*'];
      expect(inThrowawaySystem(install, before, install, ...after)).to.deep.equal([
        '/etc/login-relay/key 600',
        'old',
      ]);
    });

    it('starts nothing when it is installed, because there is no configuration yet', () => {
      expect(inThrowawaySystem(install, 'cat /systemctl.log')).to.deep.equal([
        '--system daemon-reload',
        'try-restart login-relay.service',
      ]);
    });

    it('restarts a running relay when it is upgraded, and keeps configuration and secret', () => {
      expect(
        inThrowawaySystem(
          install,
          ...configure,
          install,
          'cat /systemctl.log /etc/login-relay/client-secret',
          'grep ^BASE_URL /etc/default/login-relay',
          'ls /etc/systemd/system/*.target.wants/login-relay.*',
        ),
      ).to.deep.equal([
        '--system daemon-reload',
        'try-restart login-relay.service',
        'secret',
        'BASE_URL=https://mine.example',
        '/etc/systemd/system/multi-user.target.wants/login-relay.service',
        '/etc/systemd/system/sockets.target.wants/login-relay.socket',
      ]);
    });

    it('stops the service and its socket when it is removed, and keeps configuration and secret', () => {
      expect(
        inThrowawaySystem(
          install,
          ...configure,
          `dpkg --no-triggers -r login-relay ${quietly}`,
          'head -n 2 /systemctl.log',
          'cat /etc/login-relay/client-secret',
          'grep ^BASE_URL /etc/default/login-relay',
          '! [ -e /usr/bin/login-relay ]',
        ),
      ).to.deep.equal([
        'stop login-relay.socket login-relay.service',
        'stop login-relay@*.service',
        'secret',
        'BASE_URL=https://mine.example',
      ]);
    });

    it('removes everything when it is purged, including the secret', () => {
      expect(
        inThrowawaySystem(
          install,
          ...configure,
          'command -p env PATH=/usr/bin systemctl --root=/ enable login-relay@8001 2>/dev/null',
          'echo METRICS_PORT=9001 >/etc/default/login-relay-8001',
          'mkdir -p /var/lib/private/login-relay; echo secret >/var/lib/private/login-relay/key',
          'ln -s private/login-relay /var/lib/login-relay',
          'dpkg -L login-relay >/before',
          `dpkg --no-triggers -P login-relay ${quietly}`,
          'grep login-relay /before | while read f; do if [ -e "$f" ]; then echo "$f"; fi; done',
          "find /etc /run /var/lib -xdev -name '*login-relay*'",
        ),
      ).to.deep.equal([]);
    });

    it('installs units without a warning of systemd', () => {
      const units =
        '/usr/lib/systemd/system/login-relay.service login-relay.socket login-relay@8001.service';
      const verify = `systemd-analyze verify --man=no ${units} 2>&1`;
      expect(inThrowawaySystem(install, verify)).to.deep.equal([]);
    });
  });
});
