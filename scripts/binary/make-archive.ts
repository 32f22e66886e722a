// Packs the executable of one platform and its documents for download. The same content and date yield
// the same bytes.
// Usage: node scripts/binary/make-archive.ts <executable> <platform>
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { createZipArchiveSync, ZipEntry } from 'node:zlib';
import { version } from '../../src/version.ts';
import { sourceDate } from '../source-date.ts';
import { gatherDocuments } from './archive-content.ts';
import { executableName, platformCalled } from './platforms.ts';
import { holdSize } from './size-limits.ts';

const [executable = '', platformName = ''] = process.argv.slice(2);
const platform = platformCalled(platformName);
const name = `login-relay-${version}-${platform.name}`;
const staging = `dist/build/${platform.name}/archive`;
const folder = join(staging, name);

rmSync(staging, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
copyFileSync(executable, join(folder, executableName(platform)));
copyFileSync('dist/THIRD-PARTY-LICENSES.txt', join(folder, 'THIRD-PARTY-LICENSES.txt'));
cpSync('dist/share', join(folder, 'share'), { recursive: true });
gatherDocuments(folder);

if (platform.os === 'win32') packZip(`dist/${name}.zip`);
else packTar(`dist/${name}.tar.xz`);

function packTar(archive: string): void {
  const tar = execFileSync(
    'tar',
    [
      '--create',
      `--directory=${staging}`,
      '--sort=name',
      `--mtime=${sourceDate.toISOString()}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=u=rwX,go=rX',
      name,
    ],
    { maxBuffer: Number.POSITIVE_INFINITY },
  );
  // Use one thread, because with several threads, the blocks would depend on their number.
  const options = ['--compress', '--stdout', '--threads=1'];
  writeFileSync(archive, execFileSync('xz', options, { input: tar, maxBuffer: Number.POSITIVE_INFINITY }));
  holdSize('archive', archive, platform);
}

function packZip(archive: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name: file }) => join(parentPath, file))
    .sort();
  const entries = files.map((path) => {
    const nameInside = path.slice(staging.length + 1).replaceAll(sep, '/');
    return ZipEntry.createSync(nameInside, readFileSync(path), { modified: sourceDate });
  });
  writeFileSync(archive, Buffer.concat([...createZipArchiveSync(entries)]));
}
