import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { claimedIdentities } from '../../src/api-proxy/claimed-identities.ts';
import { secretVariables } from '../../src/config/secret-variables.ts';
import { options } from '../../src/config/settings/settings.ts';
import { projectRoot, run } from '../harness/project/run.ts';
import { needsRoot } from '../harness/system/needs.ts';

const text = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const compose = parse(text('deploy/docker/compose.yaml'));

describe('the templates', () => {
  it('are mounted in the docker command of the manual with the files that they name', () => {
    const [command = ''] = /^docker run (?:.*\\\n)+.*$/m.exec(text('docs/install.md')) ?? [];
    const mounts = [...command.matchAll(/--volume "\$PWD\/[^:]+:([^:]+):ro"/g)].map(([, at]) => at);
    const { providers, ...settings } = parse(text('deploy/config.yaml'));
    const config = /--env LOGIN_RELAY_CONFIG=(\S+)/.exec(command)?.[1] ?? '';
    const secret = join(config, '..', providers.github['client-secret-file']);
    expect(mounts).to.have.members([config, secret, settings['key-file']]);
  });

  it('give Compose the configuration file and the client secret', () => {
    const { relay } = compose.services;
    const path = relay.environment.LOGIN_RELAY_CONFIG;
    expect(relay.volumes).to.include(`./config.yaml:${path}:ro`);
    const [secret] = relay.secrets;
    const { providers } = parse(text('deploy/docker/config.yaml'));
    expect(providers.github['client-secret-file']).to.equal(`/run/secrets/${secret}`);
    expect(compose.secrets).to.have.property(secret);
  });

  it('have the steps of the manual, in its order', () => {
    const stepsOf = (path: string) =>
      [...text(path).matchAll(/^[# \d.]*(sudo(?:edit)? (?!apt).*?)(?: +#.*)?$/gm)]
        .map(([, command]) => command)
        .slice(0, 4);
    expect(stepsOf('docs/install.md').at(-1)).to.equal('sudo systemctl enable --now login-relay');
    for (const file of ['deploy/config.yaml', 'deploy/debian/postinst']) {
      expect(stepsOf(file), file).to.deep.equal(stepsOf('docs/install.md'));
    }
  });

  it('give the small Compose file and hosts only variables that the relay reads', () => {
    const ofOptions = Object.values(options).map(({ variable }) => variable);
    const variables: readonly string[] = [...ofOptions, ...Object.values(secretVariables)];
    const { relay } = parse(text('deploy/docker/compose.small.yaml')).services;
    const hosting = text('docs/hosting.md').matchAll(/\b[A-Z]+_[A-Z_]+\b|`PORT`/g);
    const named = [...hosting].map(([name]) => name.replaceAll('`', ''));
    expect(named).to.include.members(['PORT', 'BASE_URL', 'PROVIDER_CLIENT_SECRET']);
    expect(variables).to.include.members([...Object.keys(relay.environment), ...named]);
  });

  for (const [template, resource] of [
    ['resource', 'notes'],
    ['browsers', 'wiki'],
  ] as const) {
    describe(`${template}.* remove what other proxies say of people`, () => {
      const set = ['X-Forwarded-User', 'X-Forwarded-Preferred-Username', 'X-Forwarded-Email', 'X-Forwarded-Groups'];
      const names = Object.values(claimedIdentities).flat();
      /** Names that only a pattern matches. */
      const others = Object.keys(claimedIdentities).map((pattern) => pattern.replace(/\*$/, 'made-up'));
      const asPattern = (texts: readonly string[]) => new RegExp(`^(?:${texts.join('|')})$`, 'i');

      it('with nginx, by full names', () => {
        const removed = [...text(`deploy/nginx/${template}.conf`).matchAll(/proxy_set_header (\S+) "";/g)];
        expect([...removed.map(([, name]) => name), ...set]).to.include.members([...names]);
      });

      it('with Caddy', () => {
        const snippet =
          /\(no_claimed_identity\) \{(.*?)\n\}/s.exec(text(`deploy/caddy/${template}.Caddyfile`))?.[1] ?? '';
        const removed = [...snippet.matchAll(/request_header -([\w-]+\*?)$/gm)].map(([, one = '']) =>
          one.replace('*', '.*'),
        );
        for (const name of [...names, ...others]) expect(name).to.match(asPattern(removed));
      });

      it('with HAProxy', () => {
        const removed = [...text(`deploy/haproxy/${template}.cfg`).matchAll(/del-header \^\((.*)\)\$ -m reg/g)];
        for (const name of [...names, ...others]) expect(name).to.match(asPattern(removed.map(([, one = '']) => one)));
      });

      it('with Traefik, also in other spellings', () => {
        const { http } = parse(text(`deploy/traefik/${template}.yaml`));
        const expression: string = http.middlewares[`${resource}-check`].forwardAuth.authResponseHeadersRegex;
        expect(expression).to.match(/^\(\?i\)\^/);
        const removed = new RegExp(expression.slice('(?i)'.length), 'i');
        for (const name of [...names, ...others]) {
          for (const spelt of [name, name.replaceAll('-', '_').toUpperCase(), name.replace('-', '.')]) {
            expect(spelt).to.match(removed);
          }
        }
        for (const kept of ['Mcp-Session-Id', 'X-Request-Id', 'User-Agent', 'Accept'])
          expect(kept).not.to.match(removed);
      });
    });
  }

  describe('give Compose a key file, which', () => {
    const { relay, key: maker } = compose.services;
    const directory = mkdtempSync(join(tmpdir(), 'login-relay-keys-'));
    const file = join(directory, 'key');
    after('the key is removed', () => rmSync(directory, { recursive: true }));

    function make(): { mode: number; uid: number; content: string } {
      const [shell, flags] = maker.entrypoint;
      const script = maker.command[0].replaceAll('/keys/', `${directory}/`);
      expect(run(shell, [flags, script])).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      const { mode, uid } = statSync(file);
      return { mode: mode & 0o777, uid, content: readFileSync(file, 'utf8') };
    }

    it('is created before the relay starts, in the path that the relay reads', () => {
      expect(relay.depends_on.key.condition).to.equal('service_completed_successfully');
      expect(relay.volumes).to.include('keys:/keys:ro');
      expect(maker.volumes).to.deep.equal(['keys:/keys']);
      expect(parse(text('deploy/docker/config.yaml'))['key-file']).to.equal('/keys/key');
      expect(compose.volumes).to.have.property('keys');
    });

    needsRoot().it('only the relay’s user can read, and outlives a restart', () => {
      const made = make();
      expect(made).to.include({ mode: 0o600, uid: 65532 });
      expect(made.content).to.match(/^[A-Za-z0-9+/]{43}=\n$/);
      expect(make()).to.deep.equal(made);
    });
  });
});
