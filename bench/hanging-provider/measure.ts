import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { openLoop, quantile, type Sample, sample } from './open-loop.ts';
import { startProvider } from './provider.ts';
import { startRelay } from './relay.ts';

const startsPerSecond = 100;
const callsPerSecond = 100;
const healthChecksPerSecond = 10;

/** How long what lasts, in seconds. */
export interface Durations {
  readonly warmUp: number;
  readonly idle: number;
  readonly hang: number;
  readonly recovery: number;
  readonly providerTimeout: number;
}

interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** What a hanging provider did to a relay. Latencies are in milliseconds, memory is in MB. */
export interface Report {
  /** The start of a login, with nothing else to do, and while the provider hangs. */
  readonly idle: Quantiles;
  readonly hanging: Quantiles;
  /** Calls that were refused because all were in flight. */
  readonly refused: Quantiles;
  /** Calls that took all their time. */
  readonly timedOut: number;
  /** How many answers there were of each kind and status; 0: none. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The most in the first and in the second half of the time that the provider hangs, and after. */
  readonly memory: { readonly first: number; readonly second: number; readonly after: number };
  /** From the provider's recovery to the first answered lookup, and to the last failed one. */
  readonly firstAnswer: number;
  readonly lastFailure: number;
}

/** Lets a provider hang under a relay that is loaded all the while. */
export async function measure(
  command: readonly [string, ...string[]],
  durations: Durations,
): Promise<Report> {
  const provider = await startProvider();
  const relay = await startRelay(command, provider.url, durations.providerTimeout);
  const agent = new Agent({ keepAlive: true });
  const start = () => sample(`${relay.url}/auth/provider`, agent);
  const health = () => sample(`${relay.url}/healthz`, agent);
  const lookUp = () => sample(`${relay.url}/api/user`, agent, { Authorization: 'Bearer token' });
  const logIn = () => sample(`${relay.url}/auth/provider/callback?code=code`, agent);
  let turn = 0;
  const call = () => (turn++ % 2 ? lookUp() : logIn());
  const seconds = (count: number) => pause(count * 1000);

  const warmUp = [openLoop(startsPerSecond, start), openLoop(callsPerSecond, call)];
  await seconds(durations.warmUp);
  await Promise.all(warmUp.map((stop) => stop()));

  const idleStarts = openLoop(startsPerSecond, start);
  await seconds(durations.idle);
  const idle = await idleStarts();

  provider.hang();
  let isOver = false;
  const full = Promise.all(Array.from({ length: 256 }, call)).finally(() => {
    isOver = true;
  });
  while (provider.taken() < 256 && !isOver) await seconds(0.01);
  const stopStarts = openLoop(startsPerSecond, start);
  const stopCalls = openLoop(callsPerSecond, call);
  const stopHealth = openLoop(healthChecksPerSecond, health);
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(relay.memory()), 500);
  await seconds(durations.hang / 2);
  const firstHalf = memory.length;
  await seconds(durations.hang / 2);
  const hangEnd = performance.now();
  provider.recover();
  clearInterval(watch);
  await seconds(durations.recovery);
  const [starts, calls, healths] = await Promise.all([stopStarts(), stopCalls(), stopHealth()]);
  const early = await full;
  const after = relay.memory();
  agent.destroy();
  await relay.stop();
  provider.stop();

  const refused = calls.filter(({ status }) => status === 503);
  const late = calls.filter(({ sent }) => sent >= hangEnd);
  const answered = late.filter(isAnswer).map(endOf);
  const failed = late.filter((it) => !isAnswer(it)).map(endOf);
  return {
    idle: quantiles(idle),
    hanging: quantiles(starts.filter(({ sent }) => sent < hangEnd)),
    refused: quantiles(refused),
    timedOut: [...early, ...calls].filter(({ status }) => status === 504).length,
    statuses: { ...tally('start', starts), ...tally('health', healths), ...tally('call', calls) },
    memory: {
      first: Math.max(...memory.slice(0, firstHalf)),
      second: Math.max(...memory.slice(firstHalf)),
      after,
    },
    firstAnswer: Math.min(...answered) - hangEnd,
    lastFailure: failed.length > 0 ? Math.max(...failed) - hangEnd : 0,
  };
}

function quantiles(samples: readonly Sample[]): Quantiles {
  return { count: samples.length, p50: quantile(0.5, samples), p99: quantile(0.99, samples) };
}

function isAnswer({ status }: Sample): boolean {
  return status === 200 || status === 307;
}

function endOf({ sent, latency }: Sample): number {
  return sent + latency;
}

function tally(kind: string, samples: readonly Sample[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of samples) {
    const name = `${kind} ${status}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
