import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type CountedLimit, countedLimits } from '../limits.ts';
import type { LinkFailure } from '../memory/link.ts';
import type { Leadership } from '../memory/shared.ts';
import { paths, sessionPaths } from '../paths.ts';
import type { UnreadableRequest } from '../server/unreadable-request.ts';
import { version } from '../version.ts';
import type { RequestRecord } from './request-log.ts';

/** The values of gauges. */
export interface Situation {
  readonly callsInFlight: number;
  readonly ready: boolean;
  readonly memoryIsUp?: boolean | undefined;
  /** Whether logins can start at each registration. Its name is undefined if it is the only one. */
  readonly providers: readonly {
    readonly registration: string | undefined;
    readonly isKnown: boolean;
  }[];
}

/** The start of a login, of a CMS too, or its callback. */
const loginRoute = /^\/auth(?:\/[^/]+(\/callback|\/:frontEnd)?)?$/;
const revocationRoute = /^\/auth\/[^/]+\/revoke$/;

const limitOf: Readonly<Partial<Record<RequestRecord['outcome'], CountedLimit>>> = {
  headers_too_large: 'header_size',
  request_timeout: 'request_time',
  overloaded: 'provider_calls',
  rate_limited: 'rate',
  too_many_refusals: 'refused_exchanges',
};

/** Seconds: from a fast call on a keep-alive connection to the default timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Metrics = ReturnType<typeof createMetrics>;

/** No label's value comes from a request. @param situation called for every scrape */
export function createMetrics(situation: () => Situation) {
  const registry = new Registry();
  const registers = [registry];
  // Prometheus computes a rate from the second value on. The values in `starts` of the first label start at 0.
  const counter = (
    name: string,
    help: string,
    labelNames: readonly string[] = [],
    starts: readonly string[] = [],
  ) => {
    const made = new Counter({ name, help, labelNames, registers });
    for (const value of starts) made.inc({ [`${labelNames[0]}`]: value }, 0);
    return made;
  };
  const histogram = (name: string, help: string, labelNames: readonly string[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const gauge = (
    name: string,
    help: string,
    set: (gauge: Gauge) => void,
    labelNames: readonly string[] = [],
  ) => {
    const made: Gauge = new Gauge({ name, help, labelNames, registers, collect: () => set(made) });
  };
  const outcomes = (name: string, help: string) => counter(name, help, ['outcome'], ['ok']);
  // Also at a registration that a reload has added.
  const logins = (name: string, help: string, labels = {}) => {
    const labelNames = [...Object.keys(labels), 'registration'];
    const collect = () => {
      for (const one of situation().providers)
        made.inc({ ...labels, ...registrationLabel(one) }, 0);
    };
    const made: Counter = new Counter({ name, help, labelNames, registers, collect });
    return made;
  };

  collectDefaultMetrics({ register: registry, prefix: 'login_relay_' });
  // The library takes the data segment for the heap.
  registry.removeSingleMetric('login_relay_process_heap_bytes');
  gauge(
    'login_relay_build_info',
    'Always 1; the labels tell what runs.',
    (info) => info.set({ version, node: process.versions.node }, 1),
    ['version', 'node'],
  );
  gauge('login_relay_provider_calls_in_flight', 'Calls to the provider in flight.', (inFlight) =>
    inFlight.set(situation().callsInFlight),
  );
  gauge('login_relay_ready', '1 if the relay is ready, as /readyz says; 0 if not.', (ready) =>
    ready.set(situation().ready ? 1 : 0),
  );
  gauge(
    'login_relay_provider_known',
    '1 if logins can start at the provider; 0 if its issuer has not described it.',
    (known) => {
      // A reload may have removed registrations.
      known.reset();
      for (const one of situation().providers)
        known.set(registrationLabel(one), one.isKnown ? 1 : 0);
    },
    ['registration'],
  );

  const answered = ['route', 'status'];
  const requests = counter('login_relay_requests_total', 'Requests by route and status.', answered);
  const requestDuration = histogram(
    'login_relay_request_duration_seconds',
    'Time from a request to the end of its response.',
    answered,
  );
  // A provider's API may answer 500, too. The status does not tell whose error it is.
  const unexpectedErrors = counter(
    'login_relay_unexpected_errors_total',
    'Requests that met an error of the relay itself.',
  );
  const calls = counter(
    'login_relay_provider_calls_total',
    'Calls to the provider by endpoint, outcome, and class of the status if there was a response.',
    ['endpoint', 'outcome', 'status', 'registration'],
  );
  const callDuration = histogram(
    'login_relay_provider_call_duration_seconds',
    'Time that calls to the provider took, body included.',
    ['endpoint', 'outcome', 'registration'],
  );
  const errors = counter(
    'login_relay_provider_errors_total',
    'Error codes from the provider, by the endpoint they came from.',
    ['endpoint', 'code', 'registration'],
  );
  const started = logins('login_relay_logins_started_total', 'Browsers sent to the provider.');
  const finished = logins(
    'login_relay_logins_finished_total',
    'Logins handed to the front end: with a token, with a code to redeem, or as a session.',
  );
  const failed = logins(
    'login_relay_logins_failed_total',
    'Callbacks that ended without a token, by failure.',
    { reason: 'client_refused' },
  );
  const accesses = counter(
    'login_relay_access_total',
    'Logins and refreshes of people of whom it was asked whether they may log in, by answer.',
    ['outcome', 'registration'],
    ['allowed'],
  );
  const excusedCallbacks = counter(
    'login_relay_callbacks_excused_total',
    'Callbacks that were excused from the state check.',
  );
  const redemptions = outcomes(
    'login_relay_redemptions_total',
    'Codes that front ends redeemed, or tried to redeem, by outcome.',
  );
  const refreshes = outcomes(
    'login_relay_refreshes_total',
    'Refresh requests of front ends, also of sessions, by outcome.',
  );
  const revocations = outcomes(
    'login_relay_revocations_total',
    'Revocation requests of front ends, by outcome.',
  );
  const logouts = outcomes('login_relay_logouts_total', 'Logouts of sessions, by outcome.');
  const limits = counter(
    'login_relay_limits_hit_total',
    'Requests and connections that were refused or closed because of a limit.',
    ['limit'],
    countedLimits,
  );
  const limitHit = (limit?: CountedLimit) => limit && limits.inc({ limit });

  return {
    contentType: registry.contentType as string,
    text: () => registry.metrics(),
    /** Adds the metrics of a shared memory. */
    createMemoryMetrics() {
      gauge('login_relay_memory_up', '1 if the shared memory answers; 0 if not.', (up) =>
        up.set(situation().memoryIsUp ? 1 : 0),
      );
      const duration = histogram(
        'login_relay_memory_command_duration_seconds',
        'Time until the shared memory answered a command.',
        ['command'],
      );
      const failures = counter(
        'login_relay_memory_failures_total',
        'Commands that the shared memory did not carry out, and values that no relay can have left there.',
        ['reason'],
        ['timeout', 'refused', 'full', 'lost', 'garbage'],
      );
      const calls = counter(
        'login_relay_memory_calls_total',
        'Refreshes and logins that relays agree on: led here, waited for, repeated, made alone without the memory, or refused because another relay may be at it.',
        ['how'],
        ['led', 'waited', 'repeated', 'alone', 'unclear'],
      );
      return {
        command(name: string, seconds: number, failure: LinkFailure | undefined): void {
          duration.observe({ command: name }, seconds);
          if (failure !== undefined) failures.inc({ reason: failure });
        },
        garbage: () => failures.inc({ reason: 'garbage' }),
        call: (how: Leadership) => calls.inc({ how }),
      };
    },
    limitHit,
    observe(record: RequestRecord): void {
      const { method, route, status, durationMs, outcome } = record;
      const { provider, providerError, access, excused, grant } = record;
      const label = registrationLabel(record);
      const answer = { route: route ?? 'none', status };
      requests.inc(answer);
      requestDuration.observe(answer, durationMs / 1000);
      limitHit(limitOf[outcome]);
      if (outcome === 'internal_error') unexpectedErrors.inc();
      if (excused) excusedCallbacks.inc();
      if (access !== undefined) accesses.inc({ outcome: access, ...label });
      if (provider !== undefined) {
        const called = { endpoint: provider.endpoint, outcome: provider.outcome, ...label };
        const statusClass = provider.status ? `${Math.floor(provider.status / 100)}xx` : 'none';
        calls.inc({ ...called, status: statusClass });
        callDuration.observe(called, provider.durationMs / 1000);
      }
      if (providerError !== undefined) {
        errors.inc({ endpoint: provider?.endpoint ?? 'authorize', code: providerError, ...label });
      }
      if (route === null) return;
      const [isOfLogin, end] = loginRoute.exec(route) ?? [];
      if (method === 'GET' && isOfLogin !== undefined && !sessionPaths.has(route)) {
        if (end === '/callback' && outcome !== 'ok') failed.inc({ reason: outcome, ...label });
        else if (outcome === 'ok') (end === '/callback' ? finished : started).inc(label);
      }
      const posted = method === 'POST' ? route : '';
      const isRefresh = grant === 'refresh_token' || posted === paths.sessionRefresh;
      if (grant === 'authorization_code') redemptions.inc({ outcome });
      if (isRefresh) refreshes.inc({ outcome });
      if (posted === paths.logout) logouts.inc({ outcome });
      if (revocationRoute.test(posted)) revocations.inc({ outcome });
    },
    /** Counts a request that never reached the application. */
    observeUnreadable({ status, outcome }: UnreadableRequest): void {
      requests.inc({ route: 'none', status });
      limitHit(limitOf[outcome]);
    },
  };
}

/** The label `registration`. There is none if there is only one registration, or if a request concerns none. */
function registrationLabel({ registration }: { readonly registration?: string | undefined }) {
  return registration === undefined ? {} : { registration };
}
