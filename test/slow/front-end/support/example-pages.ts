import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { needs } from '../../../harness/system/needs.ts';

const examples = join(import.meta.dirname, '../../../../examples');
const vite = 'node_modules/vite/bin/vite.js';

/** Declares tests that need the tools of the examples. */
export const needsExamples = () =>
  needs('examples/node_modules (npm ci --prefix examples)', existsSync(join(examples, vite)));

/** Builds an example for a relay at this address. Every other path is its page, as routers need it. */
export function builtExample(name: string): (relay: string) => Promise<RequestListener> {
  return async (relay) => {
    const folder = await mkdtemp(join(tmpdir(), 'example-'));
    after('remove the example', () => rm(folder, { recursive: true }));
    const options = ['build', name, '--outDir', folder, '--emptyOutDir', '--logLevel', 'error'];
    const env = { ...process.env, VITE_RELAY: relay };
    await promisify(execFile)(process.execPath, [vite, ...options], { cwd: examples, env });
    return async (request, response) => {
      const path = request.url ?? '';
      const file = path.startsWith('/assets/') ? path : '/index.html';
      const type = extname(file) === '.html' ? 'text/html' : 'text/javascript';
      response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` });
      response.end(await readFile(join(folder, file)));
    };
  };
}
