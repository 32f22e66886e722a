import type { Counter, Histogram } from 'prom-client';
import type { LinkObserver } from '../memory/link.ts';
import type { Leadership } from '../memory/shared.ts';

/** Makes a counter. Those of its labels that are known start at 0. */
export type MakeCounter = (
  name: string,
  help: string,
  labelNames?: readonly string[],
  starts?: readonly Readonly<Record<string, string>>[],
) => Counter;

/** Makes the metrics of the memory that relays share. */
export function createMemoryMetrics(
  counter: MakeCounter,
  histogram: (name: string, help: string, labelNames: readonly string[]) => Histogram,
) {
  const duration = histogram(
    'login_relay_memory_command_duration_seconds',
    'Time until the shared memory answered a command.',
    ['command'],
  );
  const failures = counter(
    'login_relay_memory_failures_total',
    'Commands that the shared memory did not carry out, and values that no relay can have left there.',
    ['reason'],
    ['timeout', 'refused', 'full', 'lost', 'garbage'].map((reason) => ({ reason })),
  );
  const calls = counter(
    'login_relay_memory_calls_total',
    'Refreshes and logins that relays agree on: led here, waited for, repeated, made alone without the memory, or refused because another relay may be at it.',
    ['how'],
    ['led', 'waited', 'repeated', 'alone', 'unclear'].map((how) => ({ how })),
  );
  return {
    command: ((name, seconds, failure) => {
      duration.observe({ command: name }, seconds);
      if (failure !== undefined) failures.inc({ reason: failure });
    }) satisfies LinkObserver['command'],
    garbage: () => failures.inc({ reason: 'garbage' }),
    call: (how: Leadership) => calls.inc({ how }),
  };
}
