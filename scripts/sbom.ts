// Writes the software bill of materials to standard output, the Node runtime and its parts included.
// @see https://cyclonedx.org/docs/1.6/json/

import { createHash } from 'node:crypto';
import {
  type LockedPackage,
  productionPackages,
  project,
  runtimePackages,
  tool,
} from './production-packages.ts';
import { sourceDate } from './source-date.ts';

/** What the schema calls a component, as far as it is used here. */
interface Component {
  readonly type: 'application' | 'library' | 'platform';
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly Hash[];
  readonly licenses?: readonly License[];
  readonly cpe?: string;
  readonly purl?: string;
  readonly externalReferences?: readonly object[];
}
type Hash = { readonly alg: 'SHA-512'; readonly content: string };
type License = { readonly license: { readonly id: string } } | { readonly expression: string };

// Numbers of interfaces and data, not of parts.
const notParts = new Set(['node', 'modules', 'napi', 'unicode', 'cldr', 'tz']);

const application: Component = { ...library(project), type: 'application' };
const parts = Object.entries(process.versions)
  .filter(([name, version]) => version && !notParts.has(name))
  .map(([name, version = '']) => part(name, version));
const runtime = describeRuntime();

const content = {
  metadata: {
    timestamp: sourceDate.toISOString(),
    tools: { components: [tool('esbuild'), tool('@yao-pkg/pkg')].map(library) },
    component: application,
  },
  components: [runtime, ...parts, ...productionPackages.map(library)],
  dependencies: [
    dependsOn(application, [runtime['bom-ref'], ...project.dependencies]),
    dependsOn(
      runtime,
      parts.map((one) => one['bom-ref']),
    ),
    ...parts.map((one) => dependsOn(one, [])),
    ...productionPackages.map((one) => dependsOn(library(one), one.dependencies)),
  ],
};

const bom = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
  version: 1,
  ...content,
};
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

/** The runtime in the binary: the official one, which is also the one that runs this. */
function describeRuntime(): Component {
  const version = process.versions.node;
  for (const { name, version: pinned } of runtimePackages) {
    if (pinned !== version) throw new Error(`${name} ${pinned} is pinned, this is Node ${version}`);
  }
  return {
    type: 'platform',
    'bom-ref': 'node',
    name: 'node',
    version,
    licenses: [{ license: { id: 'MIT' } }],
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${version}`,
    externalReferences: runtimePackages.map((one) => ({
      type: 'distribution',
      url: packageUrl(one),
      hashes: hashes(one),
    })),
  };
}

function part(name: string, version: string): Component {
  return {
    type: 'library',
    'bom-ref': `node/${name}`,
    name,
    version,
    ...(name === 'openssl' ? { cpe: `cpe:2.3:a:openssl:openssl:${version}:*:*:*:*:*:*:*` } : {}),
    purl: `pkg:generic/${name}@${version}`,
  };
}

function library(locked: LockedPackage): Component {
  const [name = '', group] = locked.name.split('/').reverse();
  return {
    type: 'library',
    'bom-ref': reference(locked),
    ...(group === undefined ? {} : { group }),
    name,
    version: locked.version,
    hashes: hashes(locked),
    licenses: licenses(locked),
    purl: packageUrl(locked),
  };
}

// The path, since a version can be installed twice.
function reference({ path, name }: LockedPackage): string {
  return path || name;
}

function dependsOn(component: Component, references: readonly string[]): object {
  return { ref: component['bom-ref'], dependsOn: references };
}

function hashes({ sha512 }: LockedPackage): readonly Hash[] {
  return sha512 === undefined ? [] : [{ alg: 'SHA-512', content: sha512 }];
}

function licenses({ license }: LockedPackage): readonly License[] {
  if (license === undefined) return [];
  return [/[( ]/.test(license) ? { expression: license } : { license: { id: license } }];
}

/** @see https://github.com/package-url/purl-spec */
function packageUrl({ name, version }: LockedPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** A UUID that the same content always has. @see RFC 9562 §5.8 */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
