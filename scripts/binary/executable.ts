import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import packer from '@yao-pkg/pkg/lib-es5/sea.js';
import type { BundledModule } from './bundle.ts';
import { isThisPlatform, type Platform, runtimeVersion } from './platforms.ts';

// Not every start needs these, and compiled code is three times as large as its source.
const optional = /^(check|demo|metrics|pretty-log|start-workers|systemd|work)-/;

/**
 * Makes an executable of a program and a runtime.
 *
 * @param loader the script that loads the modules
 * @param runtime the path of the platform's runtime
 * @param output where to put the executable
 * @param folder for what is made on the way; is emptied
 */
export async function makeExecutable(
  program: { readonly loader: string; readonly modules: readonly BundledModule[] },
  platform: Platform,
  files: { readonly runtime: string; readonly output: string; readonly folder: string },
): Promise<void> {
  const folder = resolve(files.folder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  write(join(folder, 'loader.js'), program.loader);
  const assets: Record<string, string> = {};
  for (const { name, code } of program.modules) {
    assets[name] = write(join(folder, name), `(function(require,module,exports){${code}\n})`);
  }
  // Only the V8 that will run code can compile it ahead: other platforms compile it at the start.
  if (isThisPlatform(platform)) {
    const names = Object.keys(assets).filter((name) => !optional.test(name));
    const paths = names.map((name) => join(folder, name));
    execFileSync(process.execPath, [
      '--random-seed=1',
      'scripts/binary/compile-ahead.ts',
      ...paths,
    ]);
    for (const name of names) assets[`${name}.cache`] = join(folder, `${name}.cache`);
  }
  seedPackerCache(files.runtime, platform, folder);
  // pkg works in a directory below this one. What names the loader ends up in the executable:
  // it has to be the same wherever the project lies.
  process.env['TMPDIR'] = folder;
  const seaConfig = {
    main: '../loader.js',
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    assets,
  };
  await packer.default(join(folder, 'loader.js'), {
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

/**
 * Puts the runtime where pkg would keep one that it has downloaded: `.pkg-cache/sea` in the home
 * directory. The files that end in `.ok` say that the one beside them is complete.
 */
function seedPackerCache(runtime: string, { os, arch }: Platform, home: string): void {
  process.env['HOME'] = home;
  const cache = join(home, '.pkg-cache', 'sea');
  const release = join(cache, `node-v${runtimeVersion}-${os === 'win32' ? 'win' : os}-${arch}`);
  const [archive, executable] =
    os === 'win32'
      ? [`${release}.zip`, `${release}.exe`]
      : [`${release}.tar.gz`, join(release, 'bin', 'node')];
  mkdirSync(dirname(executable), { recursive: true });
  copyFileSync(runtime, executable);
  for (const path of [archive, `${archive}.ok`, `${executable}.ok`]) write(path, '');
}

function write(path: string, content: string): string {
  writeFileSync(path, content, 'latin1');
  return path;
}
