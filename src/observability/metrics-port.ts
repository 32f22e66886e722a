import type { Config } from '../config/config.ts';
import { limits } from '../limits.ts';
import { ListenError } from '../server/listen-error.ts';
import { type ListeningServer, listen } from '../server/server.ts';
import type { Metrics } from './metrics.ts';

// Those who ask for metrics are few, and known.
const most = { ...limits, connections: 64 };
const nobody = { unreadableRequest() {}, limitHit() {} };

/**
 * Answers metrics where the configuration says, if it does.
 *
 * @throws {ListenError} where the port cannot be opened
 */
export async function openMetricsPort(
  metrics: Metrics | undefined,
  { metrics: where }: Config,
): Promise<ListeningServer | undefined> {
  if (metrics === undefined || where === undefined) return undefined;
  const { metricsListener } = await import('./metrics-server.ts');
  try {
    return await listen(metricsListener(metrics), where, most, nobody);
  } catch (error) {
    throw error instanceof ListenError ? new ListenError(`metrics: ${error.message}`) : error;
  }
}
