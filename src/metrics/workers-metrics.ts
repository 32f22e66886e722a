import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { MetricsSnapshot, MetricsText } from './metrics-text.ts';

/** The workers as far as metrics tell of them. */
interface Workers {
  readonly listening: number;
  readonly replaced: number;
  /** What each living one has counted. */
  metrics(): Promise<readonly MetricsSnapshot[]>;
}

/** The metrics of several workers and of their parent, as if they were one process. */
export interface WorkersMetrics extends MetricsText {
  /** Keeps what a worker had counted: a sum that falls would be taken for a restart of all. */
  retain(metrics: MetricsSnapshot): void;
}

/** @param workers what there is at the time; not asked before metrics are */
export function createWorkersMetrics(workers: () => Workers): WorkersMetrics {
  const parent = new Registry();
  const registers = [parent];
  collectDefaultMetrics({ register: parent, prefix: 'login_relay_' });
  new Gauge({
    name: 'login_relay_workers',
    help: 'Workers that take requests.',
    registers,
    collect() {
      this.set(workers().listening);
    },
  });
  new Counter({
    name: 'login_relay_workers_replaced_total',
    help: 'Workers that ended without being asked to.',
    registers,
    collect() {
      this.reset();
      this.inc(workers().replaced);
    },
  });
  let ended: Promise<MetricsSnapshot> = Promise.resolve([]);

  return {
    contentType: parent.contentType,
    retain(metrics) {
      const before = ended;
      ended = before.then((sum) => aggregate([sum, metrics.filter(isCount)]).getMetricsAsJSON());
    },
    async text() {
      // Both as of now: a worker that ends in the meantime is in one of them alone.
      const counted = await Promise.all([ended, workers().metrics(), parent.getMetricsAsJSON()]);
      const [endedOnes, livingOnes, own] = counted;
      return await aggregate([endedOnes, ...livingOnes, own]).metrics();
    },
  };
}

function isCount({ type }: MetricsSnapshot[number]): boolean {
  // As JSON has it, whatever the type says.
  return ['counter', 'histogram'].includes(String(type));
}

function aggregate(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate(
    snapshots.map((metrics) =>
      metrics.map((metric) => ({ ...metric, aggregator: aggregatorOf(metric) })),
    ),
  );
}

function aggregatorOf({ name, aggregator }: MetricsSnapshot[number]) {
  // One process that is held up is enough to make its users wait.
  if (/_eventloop_lag_(?!min_)/.test(name)) return 'max';
  if (name.endsWith('_process_start_time_seconds')) return 'min';
  return aggregator;
}
