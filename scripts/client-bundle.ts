import { build } from 'esbuild';

/** The browser client as one minified module: the content of `client/client.js`. */
export async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['client/src/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
