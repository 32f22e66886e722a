// Builds the browser client: what the relay serves, and the npm package.
// Usage: node scripts/build-client.ts
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { bundleClient, packageFiles } from './client-bundle.ts';

const module = await bundleClient();
writeFileSync('client/client.js', module);
writeFileSync('client/client.js.br', brotliCompressSync(module));

const folder = mkdtempSync(join(tmpdir(), 'login-relay-client-'));
for (const [name, text] of await packageFiles()) writeFileSync(join(folder, name), text);
const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
  cwd: folder,
  encoding: 'utf8',
});
renameSync(join(folder, packed.trim()), 'client/client.tgz');
rmSync(folder, { recursive: true });
