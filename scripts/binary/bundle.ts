import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * Bundles a program with its libraries into one script: a function that takes `require` for Node's own
 * modules. A module that is imported dynamically is evaluated when it is imported.
 */
export async function bundle(entryPoint: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'cjs',
    // The script can only `require`.
    supported: { 'dynamic-import': false },
    charset: 'ascii',
    // Keep names, which stack traces show. `minifySyntax` would drop some.
    minifyWhitespace: true,
    legalComments: 'none',
    // The manual page has the date of the release.
    define: {
      'process.env.SOURCE_DATE_EPOCH': JSON.stringify(process.env['SOURCE_DATE_EPOCH'] ?? '0'),
    },
    plugins: [loadLate, embedFiles, fewMimeTypes],
    // `debug` uses it if it is installed. Only a tool of the tests installs it.
    external: ['supports-color'],
  });
  const [{ text } = { text: '' }] = outputFiles;
  return `(function(require){${ascii(text.replace(/^#!.*\n/, ''))}\n})`;
}

// esbuild does not apply `charset` to tagged templates. V8 needs half the memory for a script that is all ASCII.
function ascii(code: string): string {
  return code.replace(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The list of public suffixes takes an eighth of the time of `--version`. Few commands ask it. */
const loadLate: Plugin = {
  name: 'load late',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]origins[\\/]domains\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8').replace(
        /^import \{ (\w+) \} from 'tldts';$/m,
        "const $1 = (...given) => require('tldts').$1(...given);",
      );
      return { contents, loader: 'ts' };
    });
  },
};

/** Replaces `readFileSync(new URL(…, import.meta.url))` with the file, and with its text if `'utf8'` follows. */
const embedFiles: Plugin = {
  name: 'embed files',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const reading = /readFileSync\(\s*new URL\('([^']+)', import\.meta\.url\)(?:,\s*('utf8'),?\s*)?\)/g;
      const contents = readFileSync(path, 'utf8').replace(reading, (_, file: string, text?: string) => {
        const content = readFileSync(join(dirname(path), file));
        if (text) return JSON.stringify(content.toString());
        return `Buffer.from('${content.toString('base64')}', 'base64')`;
      });
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

/** Koa's libraries parse a table of all media types, twice, at each start. The relay uses eight. */
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
