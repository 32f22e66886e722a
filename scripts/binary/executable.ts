import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import packer from '@yao-pkg/pkg/lib-es5/sea.js';
import type { BundledModule } from './bundle.ts';
import { isThisPlatform, type Platform, runtimeVersion } from './platforms.ts';
import { runtimeOptions } from './runtime-options.ts';

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
  // An executable that runs cannot be written to.
  rmSync(files.output, { force: true });
  write(join(folder, 'loader.js'), program.loader);
  const assets = makeAssets(program.modules, isThisPlatform(platform), folder);
  seedPackerCache(files.runtime, platform, folder);
  // pkg works in a directory below this one. What names the loader ends up in the executable:
  // it has to be the same wherever the project lies.
  process.env['TMPDIR'] = folder;
  const seaConfig = {
    main: '../loader.js',
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    execArgv: [...runtimeOptions],
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
 * Writes the modules as the loader reads them.
 *
 * @param compiledAhead only the V8 that will run code can compile it ahead
 * @returns the path of each by its name in the executable
 */
function makeAssets(
  modules: readonly BundledModule[],
  compiledAhead: boolean,
  folder: string,
): Record<string, string> {
  for (const { name, code } of modules) {
    write(join(folder, name), `(function(require,module,exports){${code}\n})`);
  }
  // Compiled code is three times as large as its source.
  const compiled = compiledAhead ? modules.filter(({ loaded }) => loaded !== 'on demand') : [];
  if (compiled.length > 0) compileAhead(compiled.map(({ name }) => join(folder, name)));
  const assets: Record<string, string> = {};
  const files = [...modules, ...compiled.map((one) => ({ ...one, name: `${one.name}.cache` }))];
  for (const { name, loaded } of files) {
    const path = join(folder, name);
    // Nothing is decompressed before the first answer.
    if (loaded === 'at start') assets[name] = path;
    else assets[`${name}.zst`] = compress(path);
  }
  return assets;
}

function compileAhead(paths: readonly string[]): void {
  execFileSync(process.execPath, ['--random-seed=1', 'scripts/binary/compile-ahead.ts', ...paths]);
}

/** Makes a compressed copy, and returns its path. */
function compress(path: string): string {
  const params = { [constants.ZSTD_c_compressionLevel]: 19 };
  writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path), { params }));
  return `${path}.zst`;
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
