import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsRoot } from '../../harness/system/needs.ts';
import { DebianPackage } from '../release/support/debian-package.ts';
import { BootedSystem } from './booted-system.ts';

/** Runs the relay from source. */
const program = `#!/bin/sh
exec /opt/login-relay/scripts/node /opt/login-relay/bin/login-relay.ts "$@"
`;
const authority = '/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt';
const trusted = '/etc/login-relay/authority.crt';

/** GitHub, as far as a login goes, and certificates without an authority beyond this machine. */
const fakeGitHub = `{
  local_certs
  skip_install_trust
}
github.com, api.github.com {
  redir /login/oauth/authorize https://login.example.com/auth/github/callback?code=a-code&state={query.state}
  handle /login/oauth/access_token {
    header Content-Type application/json
    respond \`{"access_token":"gho_blog","token_type":"bearer","scope":"repo,user"}\`
  }
}
`;

/** The blocks of the first section of docs/cms.md. */
function blocksOfManual(): string[] {
  const manual = readFileSync(new URL('../../../docs/cms.md', import.meta.url), 'utf8');
  const [section = ''] = /^## A relay for your blog.*?(?=^## )/ms.exec(manual) ?? [];
  const blocks = [...section.matchAll(/^ *```\w+\n(.*?)^ *```$/gms)];
  return blocks.map(([, lines = '']) => lines.replaceAll(/^ {3}/gm, ''));
}

const { describe } = needsRoot('caddy', 'curl', 'dpkg-deb', 'unshare');

describe('a relay for a blog, as docs/cms.md says, in a new Debian system', () => {
  const [installation = '', storing = '', configuration = '', start = '', cms = ''] = blocksOfManual();
  let built: DebianPackage | undefined;
  let system: BootedSystem;

  before('boot', async () => {
    const file = join(tmpdir(), `login-relay-program-${process.pid}`);
    writeFileSync(file, program, { mode: 0o755 });
    built = new DebianPackage(file);
    system = await BootedSystem.boot('own');
  });
  after(async () => {
    built?.remove();
    await system?.stop();
  });

  /** Runs commands of the manual as root. */
  const run = (commands: string) => system.run(`sudo() { "$@"; }\ncd /root\n${commands}`);

  it('logs an editor in, after only the commands of the page', () => {
    const [, name = ''] = /\.\/dist\/(login-relay\S+)/.exec(installation) ?? [];
    system.copy(built?.file() ?? '', `/root/${name}`);
    run(installation.replace('./dist/', './').replace('apt install', 'dpkg --install').replace(' caddy', ''));
    run(storing.replace('sudo install', 'echo a-secret | sudo install'));
    run(`cat >/etc/login-relay/config.yaml <<'END'\n${configuration}END`);
    run(`
      echo 127.0.0.1 login.example.com github.com api.github.com >>/etc/hosts
      echo NODE_EXTRA_CA_CERTS=${trusted} >>/etc/default/login-relay
    `);
    run(`
      restart_caddy() {
        { cat /root/github; cat /etc/caddy/Caddyfile; } >/root/both
        cp /root/both /etc/caddy/Caddyfile
        systemctl restart caddy
        until [ -e ${authority} ]; do sleep 0.1; done
        install -m 644 ${authority} ${trusted}
        # It gets its certificates after its start.
        for host in login.example.com github.com api.github.com; do
          until curl --silent --output /dev/null --cacert ${trusted} https://$host; do sleep 0.1; done
        done
      }
      cat >/root/github <<'GITHUB'\n${fakeGitHub}GITHUB
      ${start.replace('sudo systemctl restart caddy', 'restart_caddy')}`);
    const page = run(`
      curl --silent --show-error --location --cacert ${trusted} --cookie-jar jar --cookie jar \
        'https://login.example.com/auth/github/blog?provider=github&site_id=blog.example.com&scope=repo'
    `);
    expect(page, run('journalctl --unit login-relay')).to.include('gho_blog').and.include('"https://blog.example.com"');
  });

  it('prints the lines for the CMS', () => {
    const report = run('sudo login-relay check || true').replaceAll(/^ {2}/gm, '');
    expect(report).to.include(cms.replace('owner/blog', 'owner/repository'));
  });
});
