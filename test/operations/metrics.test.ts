import { expect } from 'chai';
import type { Situation } from '../../src/observability/metrics.ts';
import type { RequestRecord } from '../../src/observability/request-log.ts';
import { createMetrics, type Metrics } from '../../src/observability/request-metrics.ts';
import { probeRecord } from '../harness/expect/request-record.ts';

const situation = (): Situation => ({
  callsInFlight: 0,
  ready: true,
  providers: [{ registration: undefined, isKnown: true }],
});

const situationOf = (registrations: readonly string[]) => (): Situation => ({
  ...situation(),
  providers: registrations.map((registration) => ({ registration, isKnown: true })),
});

const recordOf = (outcome: RequestRecord['outcome'], status: number): RequestRecord => ({
  ...probeRecord,
  action: 'user',
  route: '/api/user',
  outcome,
  status,
});

/** The text after the name of a metric in each of its samples. */
async function samplesOf(metrics: Metrics, name: string): Promise<readonly string[]> {
  const lines = (await metrics.text()).split('\n');
  return lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
}

describe('the metrics of several registrations', () => {
  const registrations = ['github', 'staff'];

  it('have a label for each, from 0 on', async () => {
    const metrics = createMetrics(situationOf(registrations));
    const provider = { endpoint: 'token', outcome: 'answered', durationMs: 1 } as const;
    metrics.observe({
      ...recordOf('client_refused', 400),
      action: 'callback',
      route: '/auth/staff/callback',
      registration: 'staff',
      provider: { ...provider, status: 401 },
      providerError: 'invalid_client',
    });
    for (const counted of ['started', 'finished']) {
      expect(await samplesOf(metrics, `login_relay_logins_${counted}_total`)).to.deep.equal([
        '{registration="github"} 0',
        '{registration="staff"} 0',
      ]);
    }
    expect(await samplesOf(metrics, 'login_relay_logins_failed_total')).to.have.members([
      '{reason="client_refused",registration="github"} 0',
      '{reason="client_refused",registration="staff"} 1',
    ]);
    expect(await samplesOf(metrics, 'login_relay_provider_calls_total')).to.deep.equal([
      '{endpoint="token",outcome="answered",registration="staff",status="4xx"} 1',
    ]);
    expect(await samplesOf(metrics, 'login_relay_provider_errors_total')).to.deep.equal([
      '{endpoint="token",code="invalid_client",registration="staff"} 1',
    ]);
  });

  it('start at 0 for a registration that a reload has added', async () => {
    let now = situation;
    const metrics = createMetrics(() => now());
    const failed = () => samplesOf(metrics, 'login_relay_logins_failed_total');
    expect(await failed()).to.deep.equal(['{reason="client_refused"} 0']);
    now = situationOf(registrations);
    expect(await failed()).to.include('{reason="client_refused",registration="staff"} 0');
  });

  it('say which providers are known, even after a reload', async () => {
    let known = [true, false];
    const now = () => ({
      ...situation(),
      providers: known.map((isKnown, index) => ({ registration: registrations[index], isKnown })),
    });
    const metrics = createMetrics(now);
    const samples = () => samplesOf(metrics, 'login_relay_provider_known');
    expect(await samples()).to.deep.equal(['{registration="github"} 1', '{registration="staff"} 0']);
    known = [true];
    expect(await samples()).to.deep.equal(['{registration="github"} 1']);
  });
});

describe('the metric of unexpected errors', () => {
  it('starts at 0, and counts errors of the relay, not statuses', async () => {
    const metrics = createMetrics(situation);
    metrics.observe(recordOf('ok', 500));
    expect(await metrics.text()).to.contain('login_relay_unexpected_errors_total 0\n');
    metrics.observe(recordOf('internal_error', 500));
    expect(await metrics.text()).to.contain('login_relay_unexpected_errors_total 1\n');
  });
});
