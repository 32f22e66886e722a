import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { build, type Metafile, type Plugin, transform } from 'esbuild';

/** A part of the bundled program: a CommonJS module, in ASCII. */
export interface BundledModule {
  /** As the other ones require it, without `./`. */
  readonly name: string;
  readonly code: string;
  /** When a relay loads it: before its first answer, always but later, or where it is asked for. */
  readonly loaded: 'at start' | 'later' | 'on demand';
}

// What these import is loaded with them, unless it is imported dynamically in turn.
const atStart = [
  'src/cli/commands/serve.ts',
  'src/observability/log.ts',
  'src/relay/relay.ts',
  'src/relay/app.ts',
];
const later = ['src/upstream/client.ts'];

/**
 * Bundles a program with its libraries. What it imports dynamically is in modules of its own,
 * so that nothing is loaded before it is needed.
 *
 * @returns its modules; the one that starts the program is called `main.js`
 */
export async function bundle(entryPoint: string): Promise<BundledModule[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: { main: entryPoint },
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: 'modules',
    write: false,
    metafile: true,
    plugins: [embedFiles, fewMimeTypes],
    // A tool of the tests brings it along, and `debug` would take it: the program does without.
    external: ['supports-color'],
    define: {
      'process.env.SOURCE_DATE_EPOCH': JSON.stringify(process.env['SOURCE_DATE_EPOCH'] ?? '0'),
    },
    ...common,
  });
  const started = loadedWith([entryPoint, ...atStart], metafile);
  const loadedLater = loadedWith(later, metafile);
  return Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const name = basename(path);
      const loaded = started.has(name) ? 'at start' : loadedLater.has(name) ? 'later' : 'on demand';
      return { name, code: await toCommonJs(text), loaded };
    }),
  );
}

/** The names of the modules that hold these source files, and of those that they import. */
function loadedWith(sources: readonly string[], { outputs }: Metafile): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const [path, { entryPoint = '' }] of Object.entries(outputs)) {
    if (sources.includes(entryPoint)) paths.add(path);
  }
  for (const path of paths) {
    for (const imported of outputs[path]?.imports ?? []) {
      if (imported.kind === 'import-statement' && !imported.external) paths.add(imported.path);
    }
  }
  return new Set([...paths].map((path) => basename(path)));
}

/** Bundles one file that imports nothing but builtin modules. */
export async function bundleFile(path: string): Promise<string> {
  return toCommonJs(readFileSync(path, 'utf8'));
}

const common = {
  platform: 'node',
  target: 'node26',
  charset: 'ascii',
  // Names stay: they are in stack traces, and the provider of the demo reads those of its classes,
  // which `minifySyntax` would drop as well.
  minifyWhitespace: true,
  legalComments: 'none',
} as const;

async function toCommonJs(source: string): Promise<string> {
  const { code, warnings } = await transform(source, {
    loader: 'ts',
    format: 'cjs',
    // The binary has no other modules than its own: all are loaded by its own `require`.
    supported: { 'dynamic-import': false },
    ...common,
  });
  const [warning] = warnings;
  if (warning) throw new Error(warning.text);
  // Inside a binary no shell reads the first line.
  return code.replace(/^#!.*\n/, '');
}

/** Puts the text of a file in place of what reads it: `readFileSync(new URL(…, import.meta.url))`. */
const embedFiles: Plugin = {
  name: 'embed files',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/](demo[\\/]assets|systemd[\\/]unit-files)\.ts$/ }, ({ path }) => {
      const reading = /readFileSync\(\s*new URL\('([^']+)', import\.meta\.url\),\s*'utf8',?\s*\)/g;
      const contents = readFileSync(path, 'utf8').replace(reading, (_, file: string) =>
        JSON.stringify(readFileSync(join(dirname(path), file), 'utf8')),
      );
      return { contents, loader: 'ts' };
    });
  },
};

const mimeTypes = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'image/svg+xml',
  'text/css',
  'text/html',
  'text/javascript',
  'text/plain',
];

/** Koa's libraries read a table of every media type, twice, at each start: eight are in use here. */
const fewMimeTypes: Plugin = {
  name: 'few mime types',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, ({ path }) => {
      const all: Record<string, unknown> = createRequire(import.meta.url)(path);
      const few = Object.fromEntries(mimeTypes.map((type) => [type, all[type]]));
      return { contents: JSON.stringify(few), loader: 'json' };
    });
  },
};
