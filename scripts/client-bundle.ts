import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { minify } from 'terser';
import manifest from '../client/package.json' with { type: 'json' };
import { pageWithout } from './repository.ts';

const { name, version, license } = manifest;
// Without the address of the repository: setting it later changes no built file.
const banner = `/*! ${name} ${version}, ${license} */\n`;

/** The browser client as one minified module: the content of `client/client.js`. */
export async function bundleClient(): Promise<string> {
  const { code = '' } = await minify(await bundle(true), {
    module: true,
    // More passes, and constants on the left, grow once they are compressed.
    compress: { unsafe: true, unsafe_arrows: true, pure_getters: true, lhs_constants: false },
    ecma: 2020,
  });
  return banner + code;
}

/** The files of the npm package, by their names. */
export async function packageFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map([['client.js', banner + (await bundle(false))]]);
  for (const file of ['package.json', 'client.d.ts', 'README.md']) {
    files.set(file, readFileSync(`client/${file}`, 'utf8'));
  }
  files.set(
    'README.md',
    pageWithout('client/README.md', `${files.get('README.md')}`, () => false, ''),
  );
  return files.set('LICENSE', readFileSync('LICENSE', 'utf8'));
}

async function bundle(minify: boolean): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['client/src/index.ts'],
    bundle: true,
    minify,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
