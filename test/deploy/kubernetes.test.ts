import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts';
import type { Container, PodSpec, Service } from 'kubernetes-types/core/v1.d.ts';
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parse, parseAllDocuments } from 'yaml';
import { limits } from '../../src/limits.ts';
import { projectRoot, run } from '../harness/project/run.ts';
import { exportedMetrics } from './support/exported-metrics.ts';

const folder = join(projectRoot, 'deploy/kubernetes');

interface Manifests {
  Deployment: Deployment;
  Service: Service;
  Ingress: Ingress;
  PodDisruptionBudget: PodDisruptionBudget;
  HorizontalPodAutoscaler: HorizontalPodAutoscaler;
  NetworkPolicy: NetworkPolicy;
}

const modules: Readonly<Record<keyof Manifests, string>> = {
  Deployment: 'apps/v1',
  Service: 'core/v1',
  Ingress: 'networking/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  NetworkPolicy: 'networking/v1',
};

const kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'));
const settings = parse(readFileSync(join(folder, 'config.yaml'), 'utf8'));
const notManifests = ['kustomization.yaml', 'config.yaml'];
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && !notManifests.includes(name));
const manifests = files.flatMap(manifestsIn);
const ofMemory = manifestsIn('shared-memory/server.yaml');

function manifestsIn(file: string): { kind: keyof Manifests }[] {
  // Kubernetes reads YAML 1.1, in which 0440 is octal.
  const text = readFileSync(join(folder, file), 'utf8');
  return parseAllDocuments(text, { version: '1.1', merge: true }).map((document) => document.toJS());
}

function all<Kind extends keyof Manifests>(kind: Kind): Manifests[Kind][] {
  // The first test checks these types with the compiler.
  return manifests.filter((manifest) => manifest.kind === kind) as unknown as Manifests[Kind][];
}

function only<Kind extends keyof Manifests>(kind: Kind): Manifests[Kind] {
  const [first, ...others] = all(kind);
  if (first === undefined || others.length > 0) throw new Error(`not one ${kind}`);
  return first;
}

describe('the Kubernetes manifests', () => {
  it('have only fields of the Kubernetes API, with the right types', async () => {
    const statements = [...manifests, ...ofMemory].map((manifest, index) => {
      const module = modules[manifest.kind];
      const type = `import('kubernetes-types/${module}.d.ts').${manifest.kind}`;
      return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)};`;
    });
    const directory = await mkdtemp(join(projectRoot, 'node_modules', '.manifests-'));
    try {
      const file = join(directory, 'manifests.ts');
      const wrong = statements.find((statement) => statement.includes('"maxSurge"')) ?? '';
      const refused = wrong.replace(/manifest\d+/, 'refused').replace('"maxSurge"', '"maxSurges"');
      await writeFile(file, [...statements, '// @ts-expect-error', refused].join('\n'));
      const check = [
        'node_modules/typescript/bin/tsc',
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--types',
        '',
      ];
      const { code, stdout } = run(process.execPath, [...check, file]);
      expect(code, stdout).to.equal(0);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('are all part of the kustomization', () => {
    expect(kustomization.resources).to.have.members(files);
  });

  const deployment = only('Deployment');
  const pod = deployment.spec?.template?.spec as PodSpec;
  const [container] = pod.containers as [Container];
  const labels = deployment.spec?.template?.metadata?.labels ?? {};

  const pathOf = (volume: string | undefined) => container.volumeMounts?.find(({ name }) => name === volume)?.mountPath;

  it('mount the configuration file where the relay reads it', () => {
    const [generated] = kustomization.configMapGenerator;
    const volume = pod.volumes?.find(({ configMap }) => configMap?.name === generated.name);
    expect(generated.files).to.deep.equal(['config.yaml']);
    expect(container.env).to.deep.equal([{ name: 'LOGIN_RELAY_CONFIG', value: `${pathOf(volume?.name)}/config.yaml` }]);
    expect(kustomization.images[0].name).to.equal(container.image);
  });

  it('give client secret and key as files that only the relay’s group can read', () => {
    const volume = pod.volumes?.find(({ secret }) => secret?.secretName === 'login-relay');
    expect(volume?.secret?.defaultMode).to.equal(0o440);
    const path = pathOf(volume?.name);
    expect(settings['key-file']).to.equal(`${path}/key`);
    expect(settings.providers.github['client-secret-file']).to.equal(`${path}/client-secret`);
    expect(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')).to.match(
      /^# +openssl rand -base64 32 >key\n.*--from-file=client-secret --from-file=key$/m,
    );
    expect(JSON.stringify(manifests)).to.not.match(/secretKeyRef|secretRef/);
  });

  it('give a pod time to finish its requests in flight', () => {
    const wait = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
    expect(wait).to.be.above(0);
    const needed = wait + (limits.stopTime + 5_000) / 1000;
    expect(pod.terminationGracePeriodSeconds).to.be.above(needed);
    expect(deployment.spec?.strategy?.rollingUpdate?.maxUnavailable).to.equal(0);
  });

  it('probe the health endpoints of the relay, and select it by its labels and ports', () => {
    expect(container.readinessProbe?.httpGet?.path).to.equal('/readyz');
    expect(container.livenessProbe?.httpGet?.path).to.equal('/healthz');
    const ports = Object.fromEntries((container.ports ?? []).map((port) => [port.name, port]));
    expect(ports['http']?.containerPort).to.equal(settings.port);
    expect(ports['metrics']?.containerPort).to.equal(settings['metrics-port']);
    expect(settings).to.include({ host: '0.0.0.0', 'metrics-host': '0.0.0.0' });
    const used = [
      container.readinessProbe?.httpGet?.port,
      container.livenessProbe?.httpGet?.port,
      ...all('Service').map(({ spec }) => spec?.ports?.[0]?.targetPort),
      ...(only('NetworkPolicy').spec?.ingress ?? []).flatMap(({ ports: own = [] }) => own.map(({ port }) => port)),
    ];
    expect(Object.keys(ports)).to.include.members(used as string[]);
    for (const selector of [
      deployment.spec?.selector.matchLabels,
      ...all('Service').map(({ spec }) => spec?.selector),
      only('PodDisruptionBudget').spec?.selector?.matchLabels,
      only('NetworkPolicy').spec?.podSelector.matchLabels,
      ...(pod.topologySpreadConstraints ?? []).map((spread) => spread.labelSelector?.matchLabels),
    ]) {
      expect(selector).to.deep.equal(labels);
    }
  });

  it('scale by existing metrics', async () => {
    const { spec } = only('HorizontalPodAutoscaler');
    expect(spec?.scaleTargetRef.name).to.equal(deployment.metadata?.name);
    const names = (spec?.metrics ?? []).flatMap(({ pods }) => pods?.metric.name ?? []);
    expect(names).to.have.length.above(0);
    expect([...(await exportedMetrics()).keys()]).to.include.members(names);
  });

  const prefix = 'nginx.ingress.kubernetes.io';
  const pathsOf = ({ spec }: Ingress) => spec?.rules?.[0]?.http?.paths ?? [];
  const ingressOf = (path: string) =>
    all('Ingress').find((ingress) => pathsOf(ingress).some((one) => one.path === path));

  it('keep the ingress from retrying a callback, and from logging its code', () => {
    for (const ingress of all('Ingress')) {
      const isCallback = pathsOf(ingress)[0]?.path === '/auth/github/callback';
      expect(ingress.metadata?.annotations).to.include({
        [`${prefix}/enable-access-log`]: 'false',
        [`${prefix}/proxy-next-upstream`]: isCallback ? 'off' : 'error timeout',
      });
    }
    expect(ingressOf('/auth/github/callback')).to.not.equal(undefined);
  });

  it('send the token requests, refreshes and logouts of a client address to one pod', () => {
    const tokenPaths = Object.keys(settings.providers).map((name) => `/auth/${name}/token`);
    const sticky = ingressOf('/auth/logout') as Ingress;
    const paths = pathsOf(sticky);
    expect(sticky.metadata?.annotations?.[`${prefix}/upstream-hash-by`]).to.equal('$remote_addr');
    expect(paths.map(({ path }) => path)).to.have.members([...tokenPaths, '/auth/session/refresh', '/auth/logout']);
    // ingress-nginx takes the annotation of the first ingress that names a service, for all of its paths.
    const others = all('Ingress').filter((ingress) => ingress !== sticky);
    const serviceOf = ({ backend }: (typeof paths)[number]) => backend.service?.name;
    const services = new Set(paths.map(serviceOf));
    expect(all('Service').map(({ metadata }) => metadata?.name)).to.include.members([...services]);
    expect(others.flatMap(pathsOf).map(serviceOf)).to.not.include.members([...services]);
    expect(paths.map(({ pathType }) => pathType)).to.deep.equal(paths.map(() => 'Exact'));
  });
});
