import { expect } from 'chai';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { RequestRecord } from '../../src/observability/request-record.ts';

const situation = () => ({ callsInFlight: 0, ready: true });

function recordOf(outcome: RequestRecord['outcome'], status: number): RequestRecord {
  return {
    requestId: 'id',
    clientAddress: undefined,
    method: 'GET',
    route: '/api/user',
    registration: undefined,
    frontEnd: undefined,
    status,
    durationMs: 1,
    outcome,
    provider: undefined,
    providerError: undefined,
    excused: undefined,
    grant: undefined,
    stack: undefined,
  };
}

describe('the metric of unexpected errors', () => {
  it('starts at 0, and counts errors of the relay, not statuses', async () => {
    const metrics = createMetrics(situation);
    metrics.observe(recordOf('ok', 500));
    expect(await metrics.text()).to.contain('login_relay_unexpected_errors_total 0\n');
    metrics.observe(recordOf('internal_error', 500));
    expect(await metrics.text()).to.contain('login_relay_unexpected_errors_total 1\n');
  });
});
