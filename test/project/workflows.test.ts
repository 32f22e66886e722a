import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { projectRoot } from '../harness/project/run.ts';

interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const folder = join(projectRoot, '.github/workflows');
const workflows = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
const read = (text: string) =>
  parse(text) as { permissions?: Readonly<Record<string, string>>; jobs: Record<string, Job> };
const canWrite = (permissions: Job['permissions'] = {}) => Object.values(permissions).includes('write');

describe('the workflows', () => {
  it('name every action by its commit, with its release in a comment', () => {
    const lines = workflows.flatMap((text) => text.split('\n')).filter((one) => /uses:/.test(one));
    expect(lines).to.have.length.above(3);
    for (const line of lines) {
      expect(line).to.match(/^ +- uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it('give permissions to single jobs, and none that writes to a job that runs the code of others', () => {
    const writing = workflows.flatMap((text) => {
      const { permissions, jobs } = read(text);
      expect(permissions, 'GitHub gives more if a workflow names none').to.be.an('object');
      expect(canWrite(permissions)).to.equal(false);
      return Object.values(jobs).filter((job) => canWrite(job.permissions));
    });
    expect(writing).to.have.length(1);
    for (const { needs, steps } of writing) {
      expect(needs).to.equal('build');
      for (const { uses = '', run = '' } of steps) {
        expect(uses).to.match(/^$|^actions\/download-artifact@|^sigstore\/cosign-installer@/);
        expect(run).to.match(/^$|^cd dist && sha256sum --check|^cosign sign-blob |^gh release /);
      }
    }
  });
});

describe('the updates of packages', () => {
  it('cover every folder that has its own packages, and the actions', () => {
    const { updates } = parse(readFileSync(join(projectRoot, '.github/dependabot.yml'), 'utf8')) as {
      updates: readonly { 'package-ecosystem': string; directory?: string; directories?: readonly string[] }[];
    };
    const watched = (ecosystem: string) =>
      updates
        .filter((one) => one['package-ecosystem'] === ecosystem)
        .flatMap(({ directory, directories = [] }) => [
          ...directories,
          ...(directory === undefined ? [] : [directory]),
        ]);
    const exclude = (name: string) => name === 'node_modules' || name === 'dist';
    const installed = globSync('**/package.json', { cwd: projectRoot, exclude })
      .filter((path) => /"(dev|optional)?dependencies": \{/i.test(readFileSync(join(projectRoot, path), 'utf8')))
      .map((path) => join('/', dirname(path)));
    expect(installed).to.include('/test/slow/clients');
    expect(watched('npm')).to.have.members(installed);
    expect(watched('github-actions')).to.deep.equal(['/']);
  });
});

describe('the container templates', () => {
  it('take the digest of every image that they do not build', () => {
    const recipe = readFileSync(join(projectRoot, 'deploy/docker/Dockerfile'), 'utf8');
    expect(recipe).to.match(/^ARG BASE=/m);
    for (const [from] of recipe.matchAll(/^FROM .*/gm)) {
      expect(from).to.match(/^FROM (\$\{BASE\} AS build|scratch)$/);
    }
    const compose = readFileSync(join(projectRoot, 'deploy/docker/compose.yaml'), 'utf8');
    for (const [image] of compose.matchAll(/\bimage: .*/g)) {
      expect(image).to.match(/^image: \$\{\w+:-[a-z/]+:\S+\}$/);
    }
  });
});
