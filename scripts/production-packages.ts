import { readFileSync } from 'node:fs';
import * as v from 'valibot';

const lockFileSchema = v.object({
  packages: v.record(
    v.string(),
    v.object({
      name: v.optional(v.string()),
      version: v.string(),
      license: v.optional(v.string()),
      integrity: v.optional(v.string()),
      dev: v.optional(v.boolean(), false),
      optional: v.optional(v.boolean(), false),
      devOptional: v.optional(v.boolean(), false),
      optionalDependencies: v.optional(v.record(v.string(), v.string()), {}),
    }),
  ),
});

const { packages } = v.parse(
  lockFileSchema,
  JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')),
);

/** A package that the lock file pins. */
export interface LockedPackage {
  /** Where it is installed, from the project's directory. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier or expression. */
  readonly license: string | undefined;
  /** The SHA-512 checksum of its archive in hexadecimal digits. */
  readonly sha512: string | undefined;
}

/** Every package that the relay needs while it runs, sorted by path. */
export const productionPackages = Object.entries(packages)
  .filter(([path, { dev, optional, devOptional }]) => path && !dev && !optional && !devOptional)
  .map(([path]) => describePackage(path));

/** The packages of the Node runtime, one for each platform. */
export const runtimePackages = Object.keys(packages['']?.optionalDependencies ?? {}).map((name) =>
  describePackage(`node_modules/${name}`),
);

function describePackage(path: string): LockedPackage {
  const entry = packages[path];
  if (entry === undefined) throw new Error(`the lock file has no ${path}`);
  const { name, version, license, integrity } = entry;
  return {
    path,
    name: name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version,
    license,
    sha512: integrity && hexadecimal(integrity),
  };
}

function hexadecimal(integrity: string): string {
  const [algorithm, digest = ''] = integrity.split('-', 2);
  if (algorithm !== 'sha512') throw new Error(`not a SHA-512 checksum: ${integrity}`);
  return Buffer.from(digest, 'base64').toString('hex');
}
