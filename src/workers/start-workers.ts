import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { ConfigReading } from '../config/config-snapshot.ts';
import { openMetricsPort } from '../metrics-port.ts';
import type { RunningRelay } from '../relay.ts';
import type { PassedSocket } from '../systemd/passed-socket.ts';
import { WorkerPool } from './worker-pool.ts';

/**
 * Runs the relay in processes that share its port.
 *
 * @param socket listened on in place of the configured port
 * @throws {ListenError} where a port cannot be opened, or the passed socket is of no use
 * @throws {WorkerError} where a worker ended while it started
 */
export async function startWorkers(
  count: number,
  { config, snapshot }: ConfigReading,
  logger: Logger,
  socket: PassedSocket | undefined,
): Promise<RunningRelay> {
  const metrics = await createMetricsFor(config, () => pool);
  const metricsPort = await openMetricsPort(metrics, config);
  const pool = await WorkerPool.start(count, { snapshot, socket }, logger, (counted) =>
    metrics?.retain(counted),
  );
  return {
    address: pool.address,
    metricsAddress: metricsPort?.address,
    reload: ({ snapshot }) => pool.replaceAll(snapshot),
    async stop() {
      await Promise.all([pool.stop(), metricsPort?.close()]);
    },
  };
}

// Only who wants metrics pays for loading and counting them.
async function createMetricsFor({ metrics: wanted }: Config, pool: () => WorkerPool) {
  if (wanted === undefined) return undefined;
  const { createWorkersMetrics } = await import('../metrics/metrics.ts');
  return createWorkersMetrics(pool);
}
