import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { countedLimits } from '../limits.ts';
import type { CommandFailure } from '../memory/outage-reporter.ts';
import type { Leadership } from '../memory/shared-memory.ts';
import { version } from '../version.ts';

/** The state of the relay at the moment of a scrape. */
export interface Situation {
  readonly callsInFlight: number;
  readonly ready: boolean;
  /** The requests through the gateway, by resource. */
  readonly streams?: ReadonlyMap<string, number>;
  /** The number of people and machines with such requests, and the most requests of one of them. */
  readonly streamHolders?: { readonly people: number; readonly most: number };
  /** Whether the shared memory answers; undefined without one. */
  readonly memoryIsUp?: boolean | undefined;
  /** Whether logins can start at each registration. Its name is undefined if it is the only one. */
  readonly providers: readonly {
    readonly registration: string | undefined;
    readonly isKnown: boolean;
  }[];
}

/** Seconds, from a fast call on a kept connection to the default timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type MetricFactories = ReturnType<typeof createMetricFactories>;

/** Creates functions that create metrics, whose names begin with `login_relay_`. */
export function createMetricFactories(registry: Registry, situation: () => Situation) {
  const common = (name: string, help: string, labelNames: readonly string[]) => ({
    name: `login_relay_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    /**
     * Creates a counter.
     *
     * @param initialValues values of the first label whose counts begin at 0, because a rate needs two points
     */
    counter(name: string, help: string, labels: readonly string[] = [], initialValues: readonly string[] = []) {
      const counter = new Counter(common(name, help, labels));
      for (const value of initialValues) counter.inc({ [`${labels[0]}`]: value }, 0);
      return counter;
    },
    /** Creates a counter that begins at 0 for each registration, including those that a reload adds. */
    loginCounter(name: string, help: string, otherLabels: Readonly<Record<string, string>> = {}) {
      const collect = () => {
        for (const provider of situation().providers)
          counter.inc({ ...otherLabels, ...registrationLabel(provider) }, 0);
      };
      const labels = [...Object.keys(otherLabels), 'registration'];
      const counter: Counter = new Counter({ ...common(name, help, labels), collect });
      return counter;
    },
    /** Creates a histogram of seconds. */
    histogram: (name: string, help: string, labels: readonly string[]) =>
      new Histogram({ ...common(name, help, labels), buckets }),
    /** Creates a gauge. @param set sets its values for a scrape. Values of the last scrape are dropped */
    gauge(name: string, help: string, labels: readonly string[], set: (gauge: Gauge, now: Situation) => void): void {
      const collect = () => {
        gauge.reset();
        set(gauge, situation());
      };
      const gauge: Gauge = new Gauge({ ...common(name, help, labels), collect });
    },
  };
}

/** Creates all metrics except those of a shared memory. No value of a label comes from a request. */
export function createRelayMetrics({ counter, loginCounter, histogram, gauge }: MetricFactories) {
  const outcomeCounter = (name: string, help: string) => counter(name, help, ['outcome'], ['ok']);
  defineGauges(gauge);
  return {
    requests: counter('requests_total', 'Requests by route and status.', ['route', 'status']),
    requestDuration: histogram('request_duration_seconds', 'Time from a request to the end of its response.', [
      'route',
      'status',
    ]),
    // A separate counter, because a status of 500 may come from a provider's API.
    unexpectedErrors: counter('unexpected_errors_total', 'Requests that met an error of the relay itself.'),
    calls: counter(
      'provider_calls_total',
      'Calls to the provider by endpoint, outcome, and class of the status if there was a response.',
      ['endpoint', 'outcome', 'status', 'registration'],
    ),
    callDuration: histogram('provider_call_duration_seconds', 'Time that calls to the provider took, body included.', [
      'endpoint',
      'outcome',
      'registration',
    ]),
    errors: counter('provider_errors_total', 'Error codes from the provider, by the endpoint they came from.', [
      'endpoint',
      'code',
      'registration',
    ]),
    started: loginCounter('logins_started_total', 'Browsers sent to the provider.'),
    startedByProbes: loginCounter('logins_started_by_probes_total', 'Of these, those that no browser has opened.'),
    finished: loginCounter(
      'logins_finished_total',
      'Logins handed to the front end: with a token, with a code to redeem, or as a session.',
    ),
    failed: loginCounter(
      'logins_failed_total',
      'Callbacks that ended without a token, by failure.',
      // It begins at 0, so that the alert LoginRelayClientRefused sees the first failure.
      { reason: 'client_refused' },
    ),
    accesses: counter(
      'access_total',
      'Logins and refreshes of people of whom it was asked whether they may log in, by answer.',
      ['outcome', 'registration'],
      ['allowed'],
    ),
    excusedCallbacks: counter('callbacks_excused_total', 'Callbacks that were excused from the state check.'),
    redemptions: outcomeCounter('redemptions_total', 'Codes that front ends redeemed, or tried to redeem, by outcome.'),
    refreshes: outcomeCounter('refreshes_total', 'Refresh requests of front ends, also of sessions, by outcome.'),
    revocations: outcomeCounter('revocations_total', 'Revocation requests of front ends, by outcome.'),
    resourceRequests: counter(
      'resource_requests_total',
      'Questions whether a resource opens, and requests to it, by resource and outcome.',
      ['resource', 'outcome'],
    ),
    resourceOpenings: counter(
      'resource_openings_total',
      'Of these, those that opened it, by what did: the cookie of a browser, the token of a person or of a machine.',
      ['resource', 'by', 'registration'],
    ),
    streamsEnded: counter(
      'resource_streams_ended_total',
      'Responses that passed the gateway, by resource and by who has ended them, or why the relay has.',
      ['resource', 'reason'],
    ),
    webSocketBytes: counter(
      'resource_websocket_bytes_total',
      'Bytes of WebSockets that have ended, received from their clients and sent to them.',
      ['resource', 'direction'],
    ),
    logouts: outcomeCounter('logouts_total', 'Logouts of sessions, by outcome.'),
    limits: counter(
      'limits_hit_total',
      'Requests and connections that were refused or closed because of a limit.',
      ['limit'],
      countedLimits,
    ),
  };
}

/** Creates the gauges, which are set at each scrape. */
function defineGauges(gauge: MetricFactories['gauge']): void {
  gauge('build_info', 'Always 1; the labels tell what runs.', ['version', 'node'], (info) =>
    info.set({ version, node: process.versions.node }, 1),
  );
  gauge('provider_calls_in_flight', 'Calls to the provider in flight.', [], (inFlight, now) =>
    inFlight.set(now.callsInFlight),
  );
  gauge(
    'resource_streams',
    'Requests to servers behind the gateway in flight.',
    ['resource'],
    (inFlight, { streams = new Map<string, number>() }) => {
      for (const [resource, count] of streams) inFlight.set({ resource }, count);
    },
  );
  gauge(
    'resource_stream_people',
    'People and machines with requests to servers behind the gateway in flight.',
    [],
    (count, { streamHolders: { people } = { people: 0 } }) => count.set(people),
  );
  gauge(
    'resource_stream_person_max',
    'The requests in flight of the person or machine that has most of them.',
    [],
    (count, { streamHolders: { most } = { most: 0 } }) => count.set(most),
  );
  gauge('ready', '1 if the relay is ready, as /readyz says; 0 if not.', [], (ready, now) =>
    ready.set(now.ready ? 1 : 0),
  );
  gauge(
    'provider_known',
    '1 if logins can start at the provider; 0 if its issuer has not described it.',
    ['registration'],
    (known, { providers }) => {
      for (const provider of providers) known.set(registrationLabel(provider), provider.isKnown ? 1 : 0);
    },
  );
}

/** Creates the metrics of a shared memory. @returns functions that count */
export function createMemoryMetrics({ counter, histogram, gauge }: MetricFactories) {
  gauge('memory_up', '1 if the shared memory answers; 0 if not.', [], (up, { memoryIsUp }) =>
    up.set(memoryIsUp ? 1 : 0),
  );
  const duration = histogram('memory_command_duration_seconds', 'Time until the shared memory answered a command.', [
    'command',
  ]);
  const failures = counter(
    'memory_failures_total',
    'Commands that the shared memory did not carry out, and values that no relay can have left there.',
    ['reason'],
    ['timeout', 'refused', 'full', 'lost', 'garbage'],
  );
  const calls = counter(
    'memory_calls_total',
    'Refreshes and logins that relays agree on: led here, waited for, repeated, made alone without the memory, or refused because another relay may be at it.',
    ['how'],
    ['led', 'waited', 'repeated', 'alone', 'unclear'],
  );
  return {
    command(name: string, seconds: number, failure: CommandFailure | undefined): void {
      duration.observe({ command: name }, seconds);
      if (failure !== undefined) failures.inc({ reason: failure });
    },
    garbage(): void {
      failures.inc({ reason: 'garbage' });
    },
    call(how: Leadership): void {
      calls.inc({ how });
    },
  };
}

/** Returns the label `registration`, or no label if there is only one registration, or a request belongs to none. */
export function registrationLabel({ registration }: { readonly registration?: string | undefined }) {
  return registration === undefined ? {} : { registration };
}
