import type { RunningContender } from './contenders/contender.ts';
import { type Cost, measureCosts } from './measurements/cost.ts';
import { type Latency, measureLatencies } from './measurements/latency.ts';
import { type Memory, measureMemory } from './measurements/memory.ts';
import type { Pace } from './measurements/pace.ts';
import { completeLogin } from './workloads/complete-login.ts';
import { mixed } from './workloads/mixed.ts';
import { preflight } from './workloads/preflight.ts';
import { startLogin } from './workloads/start-login.ts';
import { userLookup } from './workloads/user-lookup.ts';
import type { Workload } from './workloads/workload.ts';

/** What one experiment found out about one contender. */
export type Figures = Partial<Cost & Latency> & { readonly growth?: Memory };

/** One workload, and what is measured under it. */
export interface Experiment {
  readonly name: string;
  readonly title: string;
  /** Where the provider is. */
  readonly distance: 'near' | 'distant';
  /** Latency is measured at so many times a second. */
  readonly rate?: number;
  measure(
    contenders: ReadonlyMap<string, RunningContender>,
    pace: Pace,
  ): Promise<Map<string, Figures>>;
}

/** In the order of the report. */
export const experiments: readonly Experiment[] = [
  costAndLatency('start-login', 'Start login', startLogin, 500),
  costAndLatency('complete-login', 'Complete login', completeLogin, 200),
  costAndLatency('user-lookup', 'User lookup', userLookup, 500),
  costAndLatency('preflight', 'CORS preflight', preflight, 500),
  costAndLatency('mixed', 'Mixed', mixed, 200),
  {
    name: 'distant-lookup',
    title: 'User lookup, provider 50 ms away, TLS',
    distance: 'distant',
    rate: 100,
    measure: (contenders, pace) => measureLatencies(userLookup, contenders, pace, 100),
  },
  {
    name: 'memory',
    title: 'Memory under mixed load',
    distance: 'near',
    async measure(contenders, pace) {
      const memory = await measureMemory(mixed, contenders, pace);
      return new Map([...memory].map(([name, growth]) => [name, { growth }]));
    },
  },
];

function costAndLatency(name: string, title: string, workload: Workload, rate: number): Experiment {
  return {
    name,
    title,
    distance: 'near',
    rate,
    async measure(contenders, pace) {
      const costs = await measureCosts(workload, contenders, pace);
      const latencies = await measureLatencies(workload, contenders, pace, rate);
      return new Map(
        [...latencies].map(([contender, latency]) => [
          contender,
          { ...costs.get(contender), ...latency },
        ]),
      );
    },
  };
}
