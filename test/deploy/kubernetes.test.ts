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
import { options } from '../../src/config/options.ts';
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
const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml');
const manifests: { kind: keyof Manifests }[] = files.flatMap((file) =>
  // Kubernetes reads YAML 1.1, in which 0440 is octal.
  parseAllDocuments(readFileSync(join(folder, file), 'utf8'), { version: '1.1', merge: true }).map(
    (document) => document.toJS(),
  ),
);

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
    const statements = manifests.map((manifest, index) => {
      const module = modules[manifest.kind];
      const type = `import('kubernetes-types/${module}.d.ts').${manifest.kind}`;
      return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)};`;
    });
    const directory = await mkdtemp(join(projectRoot, 'node_modules', '.manifests-'));
    try {
      const file = join(directory, 'manifests.ts');
      await writeFile(file, statements.join('\n'));
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
      await writeFile(file, statements.join('\n').replace('"maxSurge"', '"maxSurges"'));
      expect(run(process.execPath, [...check, file]).stdout).to.contain('maxSurges');
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

  it('set only existing options, and all required ones', () => {
    const generated = kustomization.configMapGenerator[0].literals.map(
      (literal: string) => literal.split('=')[0],
    );
    const set = [...generated, ...(container.env ?? []).map(({ name }) => name)];
    expect(Object.values(options).map(({ variable }) => variable)).to.include.members(set);
    expect(set).to.include.members(['FRONTEND_ORIGIN', 'BASE_URL', 'PROVIDER_CLIENT_ID']);
    expect(container.envFrom?.[0]?.configMapRef?.name).to.equal(
      kustomization.configMapGenerator[0].name,
    );
    expect(kustomization.images[0].name).to.equal(container.image);
  });

  it('give the client secret as a file that only the relay’s group can read', () => {
    const path = container.env?.find(({ name }) => name === 'PROVIDER_CLIENT_SECRET_FILE')?.value;
    const [mount] = container.volumeMounts ?? [];
    expect(path).to.equal(`${mount?.mountPath}/client-secret`);
    const volume = pod.volumes?.find(({ name }) => name === mount?.name);
    expect(volume?.secret?.defaultMode).to.equal(0o440);
    expect(JSON.stringify(manifests)).to.not.match(/secretKeyRef|secretRef/);
  });

  it('give the relay no privileges and no writable files', () => {
    expect(pod.securityContext).to.include({ runAsNonRoot: true, runAsUser: 65532 });
    expect(pod.securityContext?.seccompProfile?.type).to.equal('RuntimeDefault');
    expect(pod.automountServiceAccountToken).to.equal(false);
    expect(container.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('give a pod time to finish its requests in flight', () => {
    const wait = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
    expect(wait).to.be.above(0);
    const needed = wait + limits.stopTime / 1000;
    expect(pod.terminationGracePeriodSeconds).to.be.above(needed);
    expect(deployment.spec?.strategy?.rollingUpdate?.maxUnavailable).to.equal(0);
  });

  it('probe the health endpoints of the relay, and select it by its labels and ports', () => {
    expect(container.readinessProbe?.httpGet?.path).to.equal('/readyz');
    expect(container.livenessProbe?.httpGet?.path).to.equal('/healthz');
    const ports = Object.fromEntries((container.ports ?? []).map((port) => [port.name, port]));
    const environment = new Map((container.env ?? []).map(({ name, value }) => [name, value]));
    expect(`${ports['http']?.containerPort}`).to.equal(environment.get('PORT'));
    expect(`${ports['metrics']?.containerPort}`).to.equal(environment.get('METRICS_PORT'));
    const used = [
      container.readinessProbe?.httpGet?.port,
      container.livenessProbe?.httpGet?.port,
      only('Service').spec?.ports?.[0]?.targetPort,
      ...(only('NetworkPolicy').spec?.ingress ?? []).flatMap(({ ports: own = [] }) =>
        own.map(({ port }) => port),
      ),
    ];
    expect(Object.keys(ports)).to.include.members(used as string[]);
    for (const selector of [
      deployment.spec?.selector.matchLabels,
      only('Service').spec?.selector,
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

  it('keep the ingress from retrying a callback, and from logging its code', () => {
    const ingresses = all('Ingress');
    const prefix = 'nginx.ingress.kubernetes.io';
    for (const { metadata, spec } of ingresses) {
      const paths = spec?.rules?.[0]?.http?.paths.map(({ path }) => path);
      const isCallback = paths?.[0] === '/auth/provider/callback';
      expect(metadata?.annotations).to.include({
        [`${prefix}/enable-access-log`]: 'false',
        [`${prefix}/proxy-next-upstream`]: isCallback ? 'off' : 'error timeout',
      });
    }
    expect(ingresses).to.have.length(2);
  });
});
