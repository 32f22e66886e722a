import { Counter, type Registry } from 'prom-client';
import { type CountedLimit, countedLimits } from '../../limits.ts';
import type { RequestRecord } from '../request-record.ts';

type Outcome = RequestRecord['outcome'];

const limitOf: Readonly<Partial<Record<Outcome, CountedLimit>>> = {
  headers_too_large: 'header_size',
  request_timeout: 'request_time',
  overloaded: 'provider_calls',
  rate_limited: 'rate',
  too_many_refusals: 'refused_exchanges',
};

/** Counts how often each limit was hit. */
export function createLimitMetrics(registry: Registry) {
  const hits = new Counter({
    name: 'login_relay_limits_hit_total',
    help: 'Requests and connections that were refused or closed because of a limit.',
    labelNames: ['limit'],
    registers: [registry],
  });
  for (const limit of countedLimits) hits.inc({ limit }, 0);

  return {
    hit: (limit: CountedLimit): void => hits.inc({ limit }),
    observe({ outcome }: { readonly outcome: Outcome }): void {
      const limit = limitOf[outcome];
      if (limit !== undefined) hits.inc({ limit });
    },
  };
}
