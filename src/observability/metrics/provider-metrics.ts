import { Counter, Histogram, type Registry } from 'prom-client';
import type { RequestRecord } from '../request-record.ts';
import { durationBuckets } from './duration-buckets.ts';
import { registrationLabel } from './registration-label.ts';

/** Counts the calls to providers and their error codes, and takes the time of the calls. */
export function createProviderMetrics(registry: Registry) {
  const registers = [registry];
  const calls = new Counter({
    name: 'login_relay_provider_calls_total',
    help: 'Calls to the provider by endpoint, outcome, and class of the status if there was a response.',
    labelNames: ['endpoint', 'outcome', 'status', 'registration'],
    registers,
  });
  const duration = new Histogram({
    name: 'login_relay_provider_call_duration_seconds',
    help: 'Time that calls to the provider took, body included.',
    labelNames: ['endpoint', 'outcome', 'registration'],
    buckets: durationBuckets,
    registers,
  });
  const errors = new Counter({
    name: 'login_relay_provider_errors_total',
    help: 'Error codes from the provider, by the endpoint they came from.',
    labelNames: ['endpoint', 'code', 'registration'],
    registers,
  });

  return {
    observe(record: RequestRecord): void {
      const { provider, providerError } = record;
      const label = registrationLabel(record);
      if (provider !== undefined) {
        const called = { endpoint: provider.endpoint, outcome: provider.outcome, ...label };
        calls.inc({ ...called, status: statusClass(provider.status) });
        duration.observe(called, provider.durationMs / 1000);
      }
      if (providerError !== undefined) {
        const endpoint = provider?.endpoint ?? 'authorize';
        errors.inc({ endpoint, code: providerError, ...label });
      }
    },
  };
}

// Classes of statuses: a label needs few values.
function statusClass(status: number | undefined): string {
  return status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
}
