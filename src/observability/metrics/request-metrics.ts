import { Counter, Histogram, type Registry } from 'prom-client';
import type { UnreadableRequest } from '../../server/unreadable-request.ts';
import type { RequestRecord } from '../request-record.ts';
import { durationBuckets } from './duration-buckets.ts';

/** Counts requests by route and status, and takes their time. */
export function createRequestMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: 'login_relay_requests_total',
    help: 'Requests by route and status.',
    labelNames: ['route', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'login_relay_request_duration_seconds',
    help: 'Time from a request to the end of its response.',
    labelNames: ['route', 'status'],
    buckets: durationBuckets,
    registers,
  });
  // A provider's API may answer 500, too. The status does not tell whose error it is.
  const unexpectedErrors = new Counter({
    name: 'login_relay_unexpected_errors_total',
    help: 'Requests that met an error of the relay itself.',
    registers,
  });

  return {
    observe({ route, status, durationMs, outcome }: RequestRecord): void {
      const answered = { route: route ?? 'none', status };
      requests.inc(answered);
      duration.observe(answered, durationMs / 1000);
      if (outcome === 'internal_error') unexpectedErrors.inc();
    },
    observeUnreadable({ status }: UnreadableRequest): void {
      requests.inc({ route: 'none', status });
    },
  };
}
