import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { CountedLimit } from '../limits.ts';
import type { UnreadableRequest } from '../server/unreadable-request.ts';
import { version } from '../version.ts';
import { createGrantMetrics } from './metrics/grant-metrics.ts';
import { createLimitMetrics } from './metrics/limit-metrics.ts';
import { createLoginMetrics } from './metrics/login-metrics.ts';
import { createProviderMetrics } from './metrics/provider-metrics.ts';
import { registrationLabel } from './metrics/registration-label.ts';
import { createRequestMetrics } from './metrics/request-metrics.ts';
import type { RequestRecord } from './request-record.ts';

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
  /** Whether logins can start at each registration. Its name is undefined if it is the only one. */
  readonly providers: readonly {
    readonly registration: string | undefined;
    readonly isKnown: boolean;
  }[];
}

/** @param situation called for every scrape */
export function createMetrics(situation: () => Situation): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'login_relay_' });
  addGauges(registry, situation);
  const requests = createRequestMetrics(registry);
  const providers = createProviderMetrics(registry);
  const logins = createLoginMetrics(registry, () => situation().providers);
  const grants = createGrantMetrics(registry);
  const limits = createLimitMetrics(registry);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    limitHit: limits.hit,
    observeUnreadable(request) {
      requests.observeUnreadable(request);
      limits.observe(request);
    },
    observe(record) {
      for (const { observe } of [requests, providers, logins, grants, limits]) observe(record);
    },
  };
}

function addGauges(registry: Registry, situation: () => Situation): void {
  const registers = [registry];
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
  new Gauge({
    name: 'login_relay_provider_known',
    help: '1 if logins can start at the provider; 0 if its issuer has not described it.',
    labelNames: ['registration'],
    registers,
    collect() {
      // A reload may have removed registrations.
      this.reset();
      for (const provider of situation().providers) {
        this.set(registrationLabel(provider), provider.isKnown ? 1 : 0);
      }
    },
  });
}
