import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import packer from '@yao-pkg/pkg/lib-es5/sea.js';
import { isThisPlatform, type Platform, runtimeVersion } from './platforms.ts';
import { runtimeOptions } from './runtime-options.ts';

const start = 'start.cjs';

/**
 * Makes an executable of a program and a runtime.
 *
 * @param program one script, as `bundle` makes it
 * @param files.runtime the platform's runtime
 * @param files.output where to put the executable
 * @param files.folder an empty directory for intermediate files
 */
export async function makeExecutable(
  program: string,
  platform: Platform,
  files: { readonly runtime: string; readonly output: string; readonly folder: string },
): Promise<void> {
  const folder = resolve(files.folder);
  // A running executable cannot be written to.
  rmSync(files.output, { force: true });
  copyFileSync(join(import.meta.dirname, start), join(folder, start));
  const assets = { program: join(folder, 'program.js'), compiled: join(folder, 'compiled') };
  writeFileSync(assets.program, program);
  if (isThisPlatform(platform)) compile(assets.program, assets.compiled);
  seedPackerCache(files.runtime, platform, folder);
  // pkg works in a directory below this one. The executable contains the path of the script, which must
  // not depend on where the project is.
  process.env['TMPDIR'] = folder;
  const seaConfig = {
    main: `../${start}`,
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    execArgv: [...runtimeOptions],
    assets: isThisPlatform(platform) ? assets : { program: assets.program },
  };
  await packer.default(join(folder, start), {
    targets: [
      {
        platform: ({ linux: 'linux', darwin: 'macos', win32: 'win' } as const)[platform.os],
        arch: platform.arch,
        nodeRange: `node${runtimeVersion}`,
        output: resolve(files.output),
      },
    ],
    seaConfig,
    signature: process.platform === 'darwin',
  });
}

function compile(script: string, output: string): void {
  const compiler = join(import.meta.dirname, 'compile.ts');
  // The same seed yields the same bytes.
  execFileSync(process.execPath, ['--random-seed=1', compiler, script, output]);
}

/**
 * Puts the runtime where pkg keeps a downloaded runtime: `.pkg-cache/sea` in the home directory. A file that ends in
 * `.ok` marks the file with the same name as complete.
 */
function seedPackerCache(runtime: string, { os, arch }: Platform, home: string): void {
  process.env['HOME'] = home;
  const cache = join(home, '.pkg-cache', 'sea');
  const release = join(cache, `node-v${runtimeVersion}-${os === 'win32' ? 'win' : os}-${arch}`);
  const [archive, executable] =
    os === 'win32' ? [`${release}.zip`, `${release}.exe`] : [`${release}.tar.gz`, join(release, 'bin', 'node')];
  mkdirSync(dirname(executable), { recursive: true });
  copyFileSync(runtime, executable);
  for (const path of [archive, `${archive}.ok`, `${executable}.ok`]) writeFileSync(path, '');
}
