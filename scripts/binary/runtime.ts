import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runtimePackages } from '../production-packages.ts';
import { isThisPlatform, type Platform, runtimeVersion } from './platforms.ts';

/**
 * Makes a copy of a platform's runtime. In an ELF file, it removes the symbols if this machine has strip.
 *
 * @param folder is emptied
 * @returns its path, and whether no symbols are left
 * @throws if the package differs from the lock file
 */
export function prepareRuntime(platform: Platform, folder: string) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const source = isThisPlatform(platform) ? `node_modules/${platform.runtimePackage}` : fetchPackage(platform, folder);
  const runtime = join(folder, 'node');
  copyFileSync(join(source, 'bin', platform.os === 'win32' ? 'node.exe' : 'node'), runtime);
  return { runtime, isStripped: platform.os !== 'linux' || strip(runtime, platform) };
}

/** Fetches a package for another platform, which npm did not install here. */
function fetchPackage({ runtimePackage }: Platform, folder: string): string {
  const specifier = `${runtimePackage}@${runtimeVersion}`;
  execFileSync('npm', ['pack', specifier, '--pack-destination', folder, '--loglevel=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const archive = join(folder, `${runtimePackage}-${runtimeVersion}.tgz`);
  const digest = createHash('sha512').update(readFileSync(archive)).digest('hex');
  if (digest !== runtimePackages.find(({ name }) => name === runtimePackage)?.sha512) {
    throw new Error(`${specifier} is not the package that package-lock.json names`);
  }
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
  return join(folder, 'package');
}

// A fifth of the runtime is symbols, which only a debugger reads.
function strip(file: string, platform: Platform): boolean {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[platform.arch];
  const tools = [`/usr/bin/${machine}-linux-gnu-strip`, '/usr/bin/llvm-strip'];
  const tool = tools.find(existsSync);
  if (tool) execFileSync(tool, [file]);
  else process.stderr.write('without strip (Debian: binutils), the executable is a fifth larger\n');
  return tool !== undefined;
}
