import type { Target } from '../workloads/workload.ts';
import type { RunningProvider } from './provider.ts';

/** Another program that does, or a limit to, what the relay does. */
export interface Contender {
  readonly name: string;
  readonly kind: 'relay' | 'peer' | 'limit';
  /** Names of the workloads that it can do. */
  readonly workloads: readonly string[];
  /** Why it cannot be started on this machine, if it cannot. */
  missing(): string | undefined;
  /** @param distance of the provider */
  start(provider: RunningProvider, distance: 'near' | 'distant'): Promise<RunningContender>;
}

/** A contender that answers requests. */
export interface RunningContender {
  readonly target: Target;
  /** The process; undefined where there is none to take figures of. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}
