import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type CountedLimit, countedLimits } from '../limits.ts';
import { paths, sessionPaths } from '../paths.ts';
import type { UnreadableRequest } from '../server/unreadable-request.ts';
import { version } from '../version.ts';
import type { RequestRecord } from './request-record.ts';

// Seconds: from a fast call on a keep-alive connection to the default timeout.
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics. No label's value comes from a request. */
export interface Metrics {
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
  observe(record: RequestRecord): void;
  /** Counts a request that never reached the application. */
  observeUnreadable(request: UnreadableRequest): void;
  limitHit(limit: CountedLimit): void;
}

/** The values of gauges. */
export interface Situation {
  /** Calls to the provider in flight. */
  readonly callsInFlight: number;
  /** Whether the relay is ready. */
  readonly ready: boolean;
}

const limitOf: Readonly<Partial<Record<RequestRecord['outcome'], CountedLimit>>> = {
  headers_too_large: 'header_size',
  request_timeout: 'request_time',
  overloaded: 'provider_calls',
  rate_limited: 'rate',
  too_many_refusals: 'refused_exchanges',
};

/** What comes after the name of a registration in a route. */
const loginRoute = /^\/auth\/[^/]+(\/callback|\/token|\/revoke|\/:frontEnd)?$/;

/** @param situation called for every scrape */
export function createMetrics(situation: () => Situation): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'login_relay_' });

  new Gauge({
    name: 'login_relay_build_info',
    help: 'Always 1; the labels tell what runs.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.versions.node }, 1);
  new Gauge({
    name: 'login_relay_provider_calls_in_flight',
    help: 'Calls to the provider in flight.',
    registers,
    collect() {
      this.set(situation().callsInFlight);
    },
  });
  new Gauge({
    name: 'login_relay_ready',
    help: '1 if the relay is ready, as /readyz says; 0 if not.',
    registers,
    collect() {
      this.set(situation().ready ? 1 : 0);
    },
  });
  const requests = new Counter({
    name: 'login_relay_requests_total',
    help: 'Requests by route and status.',
    labelNames: ['route', 'status'],
    registers,
  });
  const requestDuration = new Histogram({
    name: 'login_relay_request_duration_seconds',
    help: 'Time from a request to the end of its response.',
    labelNames: ['route', 'status'],
    buckets,
    registers,
  });
  // A provider's API may answer 500, too. The status does not tell whose error it is.
  const unexpectedErrors = new Counter({
    name: 'login_relay_unexpected_errors_total',
    help: 'Requests that met an error of the relay itself.',
    registers,
  });
  const providerCalls = new Counter({
    name: 'login_relay_provider_calls_total',
    help: 'Calls to the provider by endpoint, outcome, and class of the status if there was a response.',
    labelNames: ['endpoint', 'outcome', 'status'],
    registers,
  });
  const providerDuration = new Histogram({
    name: 'login_relay_provider_call_duration_seconds',
    help: 'Time that calls to the provider took, body included.',
    labelNames: ['endpoint', 'outcome'],
    buckets,
    registers,
  });
  const providerErrors = new Counter({
    name: 'login_relay_provider_errors_total',
    help: 'Error codes from the provider, by the endpoint they came from.',
    labelNames: ['endpoint', 'code'],
    registers,
  });
  const started = new Counter({
    name: 'login_relay_logins_started_total',
    help: 'Browsers sent to the provider.',
    registers,
  });
  const finished = new Counter({
    name: 'login_relay_logins_finished_total',
    help: 'Logins handed to the front end: with a token, with a code to redeem, or as a session.',
    registers,
  });
  const failed = new Counter({
    name: 'login_relay_logins_failed_total',
    help: 'Callbacks that ended without a token, by failure.',
    labelNames: ['reason'],
    registers,
  });
  // Prometheus computes a rate from the second value on. Start at 0, so that the first failure counts.
  failed.inc({ reason: 'client_refused' }, 0);
  const redemptions = new Counter({
    name: 'login_relay_redemptions_total',
    help: 'Codes that front ends redeemed, or tried to redeem, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const refreshes = new Counter({
    name: 'login_relay_refreshes_total',
    help: 'Refresh requests of front ends, also of sessions, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const revocations = new Counter({
    name: 'login_relay_revocations_total',
    help: 'Revocation requests of front ends, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const logouts = new Counter({
    name: 'login_relay_logouts_total',
    help: 'Logouts of sessions, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const counter of [redemptions, refreshes, revocations, logouts]) {
    counter.inc({ outcome: 'ok' }, 0);
  }
  const excusedCallbacks = new Counter({
    name: 'login_relay_callbacks_excused_total',
    help: 'Callbacks that were excused from the state check.',
    registers,
  });
  const limitsHit = new Counter({
    name: 'login_relay_limits_hit_total',
    help: 'Requests and connections that were refused or closed because of a limit.',
    labelNames: ['limit'],
    registers,
  });
  for (const limit of countedLimits) limitsHit.inc({ limit }, 0);

  function countLimit(outcome: RequestRecord['outcome']): void {
    const limit = limitOf[outcome];
    if (limit !== undefined) limitsHit.inc({ limit });
  }

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    limitHit: (limit) => limitsHit.inc({ limit }),
    observeUnreadable({ status, outcome }) {
      requests.inc({ route: 'none', status });
      countLimit(outcome);
    },
    observe(record) {
      const { method, route, status, durationMs, outcome, provider, providerError } = record;
      const { excused, grant } = record;
      countLimit(outcome);
      const answered = { route: route ?? 'none', status };
      requests.inc(answered);
      requestDuration.observe(answered, durationMs / 1000);
      if (outcome === 'internal_error') unexpectedErrors.inc();
      if (provider !== undefined) {
        const called = { endpoint: provider.endpoint, outcome: provider.outcome };
        providerCalls.inc({ ...called, status: statusClass(provider.status) });
        providerDuration.observe(called, provider.durationMs / 1000);
      }
      if (providerError !== undefined) {
        providerErrors.inc({ endpoint: provider?.endpoint ?? 'authorize', code: providerError });
      }
      if (excused) excusedCallbacks.inc();
      if (grant === 'authorization_code') redemptions.inc({ outcome });
      if (grant === 'refresh_token') refreshes.inc({ outcome });
      if (sessionPaths.has(route)) {
        if (method === 'POST' && route === paths.sessionRefresh) refreshes.inc({ outcome });
        if (method === 'POST' && route === paths.logout) logouts.inc({ outcome });
        return;
      }
      const [isOfLogin, end = ''] = loginRoute.exec(route ?? '') ?? [];
      if (end === '/revoke' && method === 'POST') revocations.inc({ outcome });
      if (method !== 'GET' || isOfLogin === undefined) return;
      if ((end === '' || end === '/:frontEnd') && outcome === 'ok') started.inc();
      if (end === '/callback') {
        if (outcome === 'ok') finished.inc();
        else failed.inc({ reason: outcome });
      }
    },
  };
}

// Classes of statuses: a label needs few values.
function statusClass(status: number | undefined): string {
  return status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
}
