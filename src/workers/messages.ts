import type { ConfigSnapshot } from '../config/config-snapshot.ts';
import type { MetricsSnapshot } from '../metrics/metrics-text.ts';
import type { PassedSocket } from '../systemd/passed-socket.ts';

/** What a worker starts with. */
export interface WorkerStart {
  readonly snapshot: ConfigSnapshot;
  /** A socket that was passed to the parent. */
  readonly socket: PassedSocket | undefined;
}

/** What the parent tells a worker, in this order; `metrics` at any time after the start. */
export type ToWorker =
  | (WorkerStart & { readonly type: 'start' })
  | { readonly type: 'listen' }
  | { readonly type: 'metrics' }
  /** `idleTime`: milliseconds for kept connections to bring another request. */
  | { readonly type: 'stop'; readonly idleTime: number };

/** What a worker answers. */
export type FromWorker =
  | { readonly type: 'prepared' }
  | { readonly type: 'listening'; readonly address: string }
  /** The port could not be opened. */
  | { readonly type: 'not_listening'; readonly reason: string }
  | { readonly type: 'metrics'; readonly metrics: MetricsSnapshot }
  /** Every request is answered; these are the last figures. */
  | { readonly type: 'stopped'; readonly metrics: MetricsSnapshot };
