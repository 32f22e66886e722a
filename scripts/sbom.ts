// Writes the software bill of materials to standard output. It is the output of `npm sbom`, which needs npm 10, with
// the Node.js runtime and its parts added. The same commit yields the same bytes. @see
// https://cyclonedx.org/docs/1.5/json/
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { runtimePackages } from './production-packages.ts';
import { sourceDate } from './source-date.ts';

const bomSchema = v.looseObject({
  metadata: v.looseObject({ component: v.looseObject({ 'bom-ref': v.string() }) }),
  components: v.array(v.looseObject({ 'bom-ref': v.string(), scope: v.optional(v.string()) })),
  dependencies: v.array(v.object({ ref: v.string(), dependsOn: v.array(v.string()) })),
});

// Numbers of interfaces and data, not of parts.
const notParts = new Set(['node', 'modules', 'napi', 'unicode', 'cldr', 'tz']);

const npm = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error'];
const output = execFileSync('npm', npm, {
  cwd: join(import.meta.dirname, '..'),
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
const bom = v.parse(bomSchema, JSON.parse(output));
const application = bom.metadata.component;
// With --omit=dev, npm would also omit packages that both the relay and its tests need.
const packages = bom.components.filter(({ scope }) => scope === 'required');
const references = new Set([application, ...packages].map((one) => one['bom-ref']));
const parts = Object.entries(process.versions)
  .filter(([name, version]) => version && !notParts.has(name))
  .map(([name, version = '']) => part(name, version));
const runtime = describeRuntime();

// npm takes the name from the directory.
Object.assign(application, { type: 'application', name: 'login-relay' });
bom.metadata['timestamp'] = sourceDate.toISOString();
delete bom['serialNumber'];
bom.components = [runtime, ...parts, ...packages];
bom.dependencies = bom.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn }) => ({
    ref,
    dependsOn: dependsOn.filter((one) => references.has(one)),
  }));
bom.dependencies[0]?.dependsOn.unshift(runtime['bom-ref']);
bom.dependencies.push(
  { ref: runtime['bom-ref'], dependsOn: parts.map((one) => one['bom-ref']) },
  ...parts.map((one) => ({ ref: one['bom-ref'], dependsOn: [] })),
);
bom['serialNumber'] = `urn:uuid:${uuidOf(JSON.stringify(bom))}`;
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

/** The runtime in the executable, which also runs this script. */
function describeRuntime() {
  const version = process.versions.node;
  for (const { name, version: pinned } of runtimePackages) {
    if (pinned !== version) throw new Error(`${name} ${pinned} is pinned, this is Node ${version}`);
  }
  return {
    'bom-ref': 'node',
    type: 'platform',
    name: 'node',
    version,
    licenses: [{ license: { id: 'MIT' } }],
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${version}`,
    externalReferences: runtimePackages.map(({ name, sha512 }) => ({
      type: 'distribution',
      url: `pkg:npm/${name}@${version}`,
      hashes: [{ alg: 'SHA-512', content: sha512 }],
    })),
  };
}

function part(name: string, version: string) {
  return {
    'bom-ref': `node/${name}`,
    type: 'library',
    name,
    version,
    ...(name === 'openssl' ? { cpe: `cpe:2.3:a:openssl:openssl:${version}:*:*:*:*:*:*:*` } : {}),
    purl: `pkg:generic/${name}@${version}`,
  };
}

/** A UUID that depends only on the content. @see RFC 9562 §5.8 */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
