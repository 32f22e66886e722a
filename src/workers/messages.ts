import type { ConfigSnapshot } from '../config/config-snapshot.ts';
import type { MetricsSnapshot } from '../metrics/metrics.ts';

/** What the parent tells a worker, in this order; `metrics` at any time after the start. */
export type ToWorker =
  | { readonly type: 'start'; readonly snapshot: ConfigSnapshot }
  | { readonly type: 'listen' }
  | { readonly type: 'metrics' }
  | { readonly type: 'stop' };

/** What a worker answers. */
export type FromWorker =
  | { readonly type: 'prepared' }
  | { readonly type: 'listening'; readonly address: string }
  /** The port could not be opened. */
  | { readonly type: 'not_listening'; readonly reason: string }
  | { readonly type: 'metrics'; readonly metrics: MetricsSnapshot }
  /** Every request is answered; these are the last figures. */
  | { readonly type: 'stopped'; readonly metrics: MetricsSnapshot };
