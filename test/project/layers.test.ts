import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The layers of docs/architecture.md, from top to bottom. */
const layers = [
  ...readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(/^\| `((?:bin|src)\/\S*)` \|/gm),
].map(([, layer]) => layer ?? '');

const files = ['bin', 'src'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file)),
);

/** The position of a file's layer; -1 if it is in none. */
function layerOf(file: string): number {
  return layers.findIndex((layer) => file.startsWith(layer));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path)),
  );
}

/** The libraries that a file loads, itself or by what it imports. */
function librariesOf(file: string, visited = new Set<string>()): Set<string> {
  if (visited.has(file)) return new Set();
  visited.add(file);
  const text = readFileSync(join(root, file), 'utf8');
  const imports = text.matchAll(/^(?:import|export) (?!type )(?:[^;']* from )?'([^']+)'/gm);
  const names = [...imports].map(([, name = '']) => name);
  const found = names.flatMap((name) =>
    name.startsWith('.') ? [...librariesOf(join(dirname(file), name), visited)] : name,
  );
  return new Set(found.filter((name) => !name.startsWith('node:')));
}

describe('the layers of docs/architecture.md', () => {
  it('contain every file', () => {
    expect(files.filter((file) => layerOf(file) < 0)).to.deep.equal([]);
  });

  it('exist', () => {
    const empty = layers.filter((_, index) => !files.some((file) => layerOf(file) === index));
    expect(empty).to.deep.equal([]);
  });

  it('import only from their own layer or the layers below', () => {
    const upward = files.flatMap((file) =>
      importsOf(file)
        .filter((imported) => imported.startsWith('src/') && layerOf(imported) < layerOf(file))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(upward).to.deep.equal([]);
  });

  it('have no circles of imports, not even of types', () => {
    const imports = new Map(files.map((file) => [file, importsOf(file)]));
    const importsItself = (file: string) => {
      const reached = new Set(imports.get(file));
      for (const one of reached) for (const next of imports.get(one) ?? []) reached.add(next);
      return reached.has(file);
    };
    expect(files.filter(importsItself)).to.deep.equal([]);
  });

  it('allow libraries only in the layers that need them', () => {
    const owners: Readonly<Record<string, readonly string[]>> = {
      got: ['src/upstream/'],
      commander: ['src/cli/'],
      pino: ['src/observability/'],
      'prom-client': ['src/observability/'],
      tldts: ['src/origins/'],
      // Loaded only with --shared-memory.
      '@redis/client': [],
    };
    const strays = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return Object.entries(owners)
        .filter(([library]) => new RegExp(`^import (?!type).*'${library}'`, 'm').test(text))
        .filter(([, folders]) => !folders.some((folder) => file.startsWith(folder)))
        .map(([library]) => `${file} imports ${library}`);
    });
    expect(strays).to.deep.equal([]);
  });

  it('load nothing before a command needs it, except what reads the command line', () => {
    const loaded = [...librariesOf('bin/login-relay.ts')].toSorted();
    expect(loaded).to.deep.equal(['commander', 'ipaddr.js', 'leven', 'tldts', 'valibot']);
  });
});
