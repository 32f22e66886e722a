import type { Counter, Histogram } from 'prom-client';
import type { LinkObserver } from '../memory/link.ts';
import type { Leadership } from '../memory/shared.ts';

/** Makes the metrics of the memory that relays share. */
export function createMemoryMetrics(
  counterBy: (label: string, name: string, help: string, values: readonly string[]) => Counter,
  histogram: (name: string, help: string, labelNames: readonly string[]) => Histogram,
) {
  const duration = histogram(
    'login_relay_memory_command_duration_seconds',
    'Time until the shared memory answered a command.',
    ['command'],
  );
  const failures = counterBy(
    'reason',
    'login_relay_memory_failures_total',
    'Commands that the shared memory did not carry out, and values that no relay can have left there.',
    ['timeout', 'refused', 'full', 'lost', 'garbage'],
  );
  const calls = counterBy(
    'how',
    'login_relay_memory_calls_total',
    'Refreshes and logins that relays agree on: led here, waited for, repeated, made alone without the memory, or refused because another relay may be at it.',
    ['led', 'waited', 'repeated', 'alone', 'unclear'],
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
