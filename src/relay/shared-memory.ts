import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { keysFromFile } from '../keys.ts';
import { createConnection } from '../memory/connection.ts';
import { createLink } from '../memory/link.ts';
import { createSharedMemory, type SharedMemory } from '../memory/shared.ts';
import type { Metrics } from '../observability/metrics.ts';

/**
 * Opens the memory that relays share, and waits for it a moment.
 *
 * @returns undefined if none is configured
 */
export async function openSharedMemory(
  config: Config,
  logger: Logger,
  metrics: Metrics | undefined,
): Promise<SharedMemory | undefined> {
  if (config.memory === undefined) return undefined;
  const counted = metrics?.createMemoryMetrics();
  const link = createLink(await createConnection(config.memory), {
    command: (...seen) => counted?.command(...seen),
    garbage: () => counted?.garbage(),
    away: (reason) => logger.warn({ reason }, 'shared memory is away'),
    back: (seconds) => logger.info({ awaySeconds: Math.round(seconds) }, 'shared memory is back'),
  });
  const shared = createSharedMemory(link, (how) => counted?.call(how));
  configureSharedMemory(shared, config);
  const { address } = config.memory;
  if (await link.untilBack()) logger.info({ address }, 'shared memory is in use');
  return shared;
}

/** Uses the present keys and times. */
export function configureSharedMemory(
  shared: SharedMemory | undefined,
  { keySecrets, providerTimeout }: Config,
): void {
  if (keySecrets !== undefined) shared?.configure(keysFromFile(keySecrets).memory, providerTimeout);
}
