import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { projectRoot, run } from '../harness/project/run.ts';
import { needsRoot } from '../harness/system/needs.ts';

const text = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const compose = parse(text('deploy/docker/compose.yaml'));
const kustomization = parse(text('deploy/kubernetes/kustomization.yaml'));
const deployment = parse(text('deploy/kubernetes/deployment.yaml'));

/** Lines of the form `NAME=value`. */
function settings(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

describe('the templates', () => {
  const templates: Record<string, Record<string, string>> = {
    'the settings of the systemd service and the Debian package': settings(
      text('deploy/systemd/login-relay.default').split('\n'),
    ),
    'the Compose file': compose.services.relay.environment,
    'the docker command of the manual': settings(
      [...text('docs/install.md').matchAll(/--env ([A-Z_]+=\S*)/g)].map(([, line = '']) => line),
    ),
    'the Kubernetes manifests': settings(kustomization.configMapGenerator[0].literals),
  };

  for (const [name, given] of Object.entries(templates)) {
    it(`show people a page, and check the state of every callback: ${name}`, () => {
      expect(given).to.include({ ERROR_DELIVERY: 'page', STATE_CHECK: 'always' });
    });
  }

  it('give Kubernetes a key file, beside the client secret', () => {
    const [container] = deployment.spec.template.spec.containers;
    const environment: { name: string; value: string }[] = container.env;
    const path = environment.find(({ name }) => name === 'KEY_FILE')?.value;
    expect(path).to.equal(`${container.volumeMounts[0].mountPath}/key`);
    expect(text('deploy/kubernetes/kustomization.yaml')).to.match(
      /^# +openssl rand -base64 32 >key\n.*--from-file=key$/m,
    );
  });

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
      expect(relay.environment.KEY_FILE).to.equal('/keys/key');
      expect(compose.volumes).to.have.property('keys');
    });

    needsRoot().it('only the relay’s user can read, and outlives a restart', () => {
      const made = make();
      expect(made).to.include({ mode: 0o600, uid: 65532 });
      expect(made.content).to.match(/^[A-Za-z0-9+/]{43}=\n$/);
      expect(make()).to.deep.equal(made);
    });

    it('is the one of 0.1, if there is one', () => {
      rmSync(file, { force: true });
      writeFileSync(join(directory, 'state-key'), 'the key of before\n', { mode: 0o600 });
      expect(make().content).to.equal('the key of before\n');
    });
  });
});
