import { collectDefaultMetrics, Registry } from 'prom-client';
import type { CountedLimit } from '../limits.ts';
import type { UnreadableRequest } from '../server/unreadable-request.ts';
import {
  createMemoryMetrics,
  createMetricFactories,
  createRelayMetrics,
  registrationLabel,
  type Situation,
} from './metrics.ts';
import type { RequestRecord } from './request-log.ts';

/** The limits that requests have hit, by their outcome. */
const limitsByOutcome: Readonly<Partial<Record<RequestRecord['outcome'], CountedLimit>>> = {
  headers_too_large: 'header_size',
  request_timeout: 'request_time',
  pipelined_too_many: 'pipelining',
  chunks_too_small: 'chunks',
  overloaded: 'provider_calls',
  rate_limited: 'rate',
  too_many_refusals: 'refused_exchanges',
};

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of the process, and functions that count. @param situation called for every scrape */
export function createMetrics(situation: () => Situation) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // The library reports the data segment as the heap.
  registry.removeSingleMetric('process_heap_bytes');
  const factories = createMetricFactories(registry, situation);
  const metrics = createRelayMetrics(factories);
  const limitHit = (limit: CountedLimit | undefined): void => {
    if (limit !== undefined) metrics.limits.inc({ limit });
  };
  return {
    contentType: registry.contentType as string,
    text: () => registry.metrics(),
    createMemoryMetrics: () => createMemoryMetrics(factories),
    limitHit,
    observe(record: RequestRecord): void {
      limitHit(limitsByOutcome[record.outcome]);
      countRequest(metrics, record);
      countProviderCall(metrics, record);
      countLogin(metrics, record);
    },
    /** Counts a request that the server answered without the relay, such as one that is not valid HTTP. */
    observeUnreadable({ status, outcome }: UnreadableRequest): void {
      metrics.requests.inc({ route: 'none', status });
      limitHit(limitsByOutcome[outcome]);
    },
  };
}

type RelayMetrics = ReturnType<typeof createRelayMetrics>;

/** Counts a request, its duration, and whether its person was allowed to log in. */
function countRequest(metrics: RelayMetrics, record: RequestRecord): void {
  const { route, status, durationMs, outcome, access, excused } = record;
  const labels = { route: route ?? 'none', status };
  metrics.requests.inc(labels);
  metrics.requestDuration.observe(labels, durationMs / 1000);
  if (outcome === 'internal_error') metrics.unexpectedErrors.inc();
  if (excused) metrics.excusedCallbacks.inc();
  if (access !== undefined) metrics.accesses.inc({ outcome: access, ...registrationLabel(record) });
}

/** Counts the call to the provider that a request caused, and the provider's error. */
function countProviderCall(metrics: RelayMetrics, record: RequestRecord): void {
  const { provider: call, providerError } = record;
  const label = registrationLabel(record);
  if (call !== undefined) {
    const labels = { endpoint: call.endpoint, outcome: call.outcome, ...label };
    const statusClass = call.status ? `${Math.floor(call.status / 100)}xx` : 'none';
    metrics.calls.inc({ ...labels, status: statusClass });
    metrics.callDuration.observe(labels, call.durationMs / 1000);
  }
  if (providerError !== undefined) {
    const endpoint = call?.endpoint ?? 'authorize';
    metrics.errors.inc({ endpoint, code: providerError, ...label });
  }
}

const doorActions: ReadonlySet<RequestRecord['action']> = new Set(['check', 'introspect', 'gateway']);

/** Counts the effect of a request on a login: start, end, redemption, refresh, revocation, logout. */
function countLogin(metrics: RelayMetrics, record: RequestRecord): void {
  const { method, action, outcome, grant, resource, by, ended, webSocket, isProbe } = record;
  const label = registrationLabel(record);
  if (method === 'GET' && outcome === 'ok') {
    if (action === 'start') metrics.started.inc(label);
    if (action === 'start' && isProbe) metrics.startedByProbes.inc(label);
    if (action === 'callback') metrics.finished.inc(label);
  } else if (method === 'GET' && action === 'callback') {
    metrics.failed.inc({ reason: outcome, ...label });
  }
  if (resource !== undefined && doorActions.has(action)) {
    metrics.resourceRequests.inc({ resource, outcome });
    if (by !== undefined) metrics.resourceOpenings.inc({ resource, by, ...label });
    if (ended !== undefined) metrics.streamsEnded.inc({ resource, reason: ended });
    for (const [direction, bytes] of Object.entries(webSocket ?? {})) {
      metrics.webSocketBytes.inc({ resource, direction }, bytes);
    }
  }
  if (grant === 'authorization_code') metrics.redemptions.inc({ outcome });
  if (grant === 'refresh_token') metrics.refreshes.inc({ outcome });
  // The following endpoints also answer OPTIONS.
  if (method !== 'POST') return;
  if (action === 'session-refresh') metrics.refreshes.inc({ outcome });
  if (action === 'logout') metrics.logouts.inc({ outcome });
  if (action === 'revoke') metrics.revocations.inc({ outcome });
}
