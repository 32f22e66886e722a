import type { RequestRecord } from '../../../src/observability/request-log.ts';

/** The record of a probe. Tests pass the members that differ. */
export const probeRecord: RequestRecord = {
  requestId: 'id',
  action: 'probe',
  clientAddress: undefined,
  method: 'GET',
  route: '/healthz',
  registration: undefined,
  frontEnd: undefined,
  status: 200,
  durationMs: 1,
  outcome: 'ok',
  provider: undefined,
  providerError: undefined,
  excused: undefined,
  grant: undefined,
  stack: undefined,
};
