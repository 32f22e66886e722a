import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { userDocuments } from '../../../scripts/binary/archive-content.ts';
import { deadLinks } from '../../harness/project/links.ts';
import { run } from '../../harness/project/run.ts';
import { needsPrograms, needsRoot } from '../../harness/system/needs.ts';
import { DebianPackage, enable, install, quietly } from './support/debian-package.ts';

const { describe } = needsPrograms('dpkg-deb', 'lintian', 'unshare');

describe('the Debian package', () => {
  let built: DebianPackage;

  before('the package is built', () => {
    built = new DebianPackage();
  });

  after('the package is removed', () => built.remove());

  it('has the same bytes for the same commit', () => {
    const digest = () => createHash('sha256').update(readFileSync(built.file())).digest('hex');
    const first = digest();
    built.build('amd64');
    expect(digest()).to.equal(first);
  });

  it('is also made for arm64', () => {
    built.build('arm64');
    const { stdout } = run('dpkg-deb', ['--field', built.file('arm64'), 'Architecture']);
    expect(stdout).to.equal('arm64\n');
  });

  it('names its maintainer as Debian’s tools do', () => {
    built.build('arm64', { DEBFULLNAME: 'Ada Lovelace', DEBEMAIL: 'ada@example.org' });
    const { stdout } = run('dpkg-deb', ['--field', built.file('arm64'), 'Maintainer']);
    expect(stdout).to.equal('Ada Lovelace <ada@example.org>\n');
  });

  it('causes no warning of lintian', () => {
    const args = ['--allow-root', '--fail-on', 'error,warning', built.file()];
    expect(run('lintian', args)).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });

  it('contains the files that the relay needs', () => {
    const { stdout } = run('dpkg-deb', ['--contents', built.file()]);
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
    const root = join(built.dist, 'unpacked');
    expect(run('dpkg-deb', ['--extract', built.file(), root])).to.include({ code: 0 });
    const documentation = join(root, 'usr/share/doc/login-relay');
    expect(readdirSync(documentation)).to.include.members([...userDocuments]);
    expect(deadLinks(documentation)).to.deep.equal([]);
  });

  needsRoot().describe('in a system', () => {
    const configure = [
      'sed -i "s,^base-url:.*,base-url: https://mine.example," /etc/login-relay/config.yaml',
      'echo secret >/etc/login-relay/client-secret',
      enable,
      ': >/systemctl.log',
    ];

    const removed = `dpkg --no-triggers -r login-relay ${quietly}`;
    const purged = `dpkg --no-triggers -P login-relay ${quietly}`;
    /** The commands after the installation, and what they print. */
    const cases: Readonly<Record<string, readonly [commands: readonly string[], prints: string[]]>> = {
      'installs the binary, the units, the manual page, the completions and the licences': [
        [
          String.raw`dpkg -L login-relay | grep -v '/examples\|[A-Za-z]\.\(md\|svg\|json\)$' | LC_ALL=C sort | while read f; do [ -d "$f" ] || echo "$f"; done`,
        ],
        [
          '/etc/login-relay/config.yaml',
          '/usr/bin/login-relay',
          '/usr/lib/systemd/system/login-relay.service',
          '/usr/lib/systemd/system/login-relay.socket',
          '/usr/lib/systemd/system/login-relay@.service',
          '/usr/lib/sysusers.d/login-relay.conf',
          '/usr/share/bash-completion/completions/login-relay',
          '/usr/share/doc/login-relay/THIRD-PARTY-LICENSES.txt.gz',
          '/usr/share/doc/login-relay/changelog.Debian.gz',
          '/usr/share/doc/login-relay/changelog.gz',
          '/usr/share/doc/login-relay/copyright',
          '/usr/share/fish/vendor_completions.d/login-relay.fish',
          '/usr/share/lintian/overrides/login-relay',
          '/usr/share/man/man1/login-relay.1.gz',
          '/usr/share/zsh/vendor-completions/_login-relay',
        ],
      ],
      'lets the user of the service read the configuration and the secrets, and no other user': [
        [
          'install -m 640 /dev/null /etc/login-relay/client-secret',
          "stat -c '%n %a %U:%G' /etc/login-relay /etc/login-relay/* /var/lib/login-relay",
          'getent passwd login-relay | cut -d: -f1,6,7',
        ],
        [
          '/etc/login-relay 2750 root:login-relay',
          '/etc/login-relay/client-secret 640 root:login-relay',
          '/etc/login-relay/config.yaml 640 root:login-relay',
          '/var/lib/login-relay 700 login-relay:login-relay',
          'login-relay:/var/lib/login-relay:/usr/sbin/nologin',
        ],
      ],
      'installs the template and the schema that its first line names': [
        [
          'cmp /etc/login-relay/config.yaml /usr/share/doc/login-relay/examples/config.yaml',
          `grep -q '"front-ends"' "$(sed -n 's/^# yaml-language-server: .schema=//p' /etc/login-relay/config.yaml)"`,
        ],
        [],
      ],
      'starts nothing when it is installed, because there is no configuration yet': [
        ['cat /systemctl.log'],
        ['--system daemon-reload', 'try-restart login-relay.service'],
      ],
      'restarts a running relay when it is upgraded, and keeps configuration and secret': [
        [
          ...configure,
          install,
          'cat /systemctl.log /etc/login-relay/client-secret',
          'grep ^base-url: /etc/login-relay/config.yaml',
          'ls /etc/systemd/system/*.target.wants/login-relay.*',
        ],
        [
          '--system daemon-reload',
          'try-restart login-relay.service',
          'secret',
          'base-url: https://mine.example',
          '/etc/systemd/system/multi-user.target.wants/login-relay.service',
          '/etc/systemd/system/sockets.target.wants/login-relay.socket',
        ],
      ],
      'stops the service and its socket when it is removed, and keeps configuration and secret': [
        [
          ...configure,
          removed,
          'head -n 2 /systemctl.log',
          'cat /etc/login-relay/client-secret',
          'grep ^base-url: /etc/login-relay/config.yaml',
          '! [ -e /usr/bin/login-relay ]',
        ],
        [
          'stop login-relay.socket login-relay.service',
          'stop login-relay@*.service',
          'secret',
          'base-url: https://mine.example',
        ],
      ],
      'removes everything when it is purged, including the secret': [
        [
          ...configure,
          'command -p env PATH=/usr/bin systemctl --root=/ enable login-relay@8001 2>/dev/null',
          'echo METRICS_PORT=9001 >/etc/default/login-relay-8001',
          'echo FRONTEND_ORIGIN=https://a.example >/etc/default/login-relay.old',
          'mkdir -p /var/lib/login-relay; echo secret >/var/lib/login-relay/key',
          'dpkg -L login-relay >/before',
          purged,
          'grep login-relay /before | while read f; do if [ -e "$f" ]; then echo "$f"; fi; done',
          "find /etc /run /var/lib -xdev -name '*login-relay*'",
        ],
        [],
      ],
      'installs units without a warning of systemd': [
        [
          'systemd-analyze verify --man=no /usr/lib/systemd/system/login-relay.service login-relay.socket login-relay@8001.service 2>&1',
        ],
        [],
      ],
    };
    for (const [what, [commands, prints]] of Object.entries(cases)) {
      it(what, () => {
        expect(built.inThrowawaySystem(install, ...commands)).to.deep.equal(prints);
      });
    }

    it('says the next four commands when it is installed, and not when it is upgraded', () => {
      const loud = install.replace(quietly, '2>/dev/null');
      const said = built.inThrowawaySystem(`${loud} | grep '^  sudo'`, `! ${loud} | grep '^  sudo'`);
      expect(said.map((line) => line.trim().split(' ').slice(0, 2).join(' '))).to.deep.equal([
        'sudo install',
        'sudoedit /etc/login-relay/config.yaml',
        'sudo login-relay',
        'sudo systemctl',
      ]);
    });

    it('keeps to the variables of 0.1, if that has any, without a question', () => {
      const variables = '/etc/default/login-relay';
      expect(
        built.inThrowawaySystem(
          `echo FRONTEND_ORIGIN=https://mine.example >${variables}`,
          install,
          install,
          `grep -v '^#\\|^$' ${variables}`,
        ),
      ).to.deep.equal(['FRONTEND_ORIGIN=https://mine.example', 'LOGIN_RELAY_CONFIG=']);
    });
  });
});
