import { limits } from '../limits.ts';
import type { Port } from '../server/port.ts';
import { type ListeningServer, listen } from '../server/server.ts';
import { ListenError } from '../start-errors.ts';
import type { Metrics } from './metrics.ts';

// Few clients read metrics.
const serverLimits = { ...limits, connections: 64 };
const noObserver = { unreadableRequest() {}, limitHit() {} };

/**
 * Opens the port that answers `GET /metrics`.
 *
 * @param where undefined: metrics are off
 * @throws {ListenError} if the port cannot be opened
 */
export async function openMetricsPort(
  metrics: Metrics | undefined,
  where: Port | undefined,
): Promise<ListeningServer | undefined> {
  if (metrics === undefined || where === undefined) return undefined;
  const { metricsListener } = await import('./metrics-server.ts');
  try {
    return await listen(metricsListener(metrics), where, serverLimits, noObserver);
  } catch (error) {
    throw error instanceof ListenError ? new ListenError(`metrics: ${error.message}`) : error;
  }
}
