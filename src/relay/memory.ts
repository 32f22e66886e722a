import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { createGrantMemory } from '../grants/grants.ts';
import { limits } from '../limits.ts';
import { createLoginMemory } from '../login/memory.ts';
import { createExpiringMap } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import { createMarks } from '../memory/marks.ts';
import { createRedisClient } from '../memory/redis-client.ts';
import { watchRedis } from '../memory/redis-outages.ts';
import { createSharedMemory, type SharedMemory } from '../memory/shared-memory.ts';
import type { Metrics } from '../observability/request-metrics.ts';
import type { Provider } from '../providers/provider.ts';
import { createStreams } from '../resources/streams.ts';
import { deriveKeysFromFile } from '../sealing/keys.ts';

/** How to make the server usable, by the reason why it is not. */
const fixes: Readonly<Record<string, string>> = {
  NOAUTH: 'give the password of the server',
  WRONGPASS: 'correct the user or the password',
  NOPERM: 'let the user run the commands of docs/operations.md on login-relay:1:*',
  CLUSTER: 'write redis+cluster:// with the addresses of some nodes: the server is a node of a Cluster',
  MOVED: 'write redis+cluster:// with the addresses of some nodes: the server is a node of a Cluster',
  other: 'use a server with the commands of docs/operations.md, such as Valkey or Redis 7',
};

/** The memory of a process, which survives a reload of the configuration. */
export type Memory = ReturnType<typeof createMemory>;

/** Creates what a process remembers. @param shared the server that the processes share, if there is one */
export function createMemory(now: Clock, shared?: SharedMemory) {
  const home: Home = { now, shared };
  return {
    home,
    logins: createLoginMemory(home),
    grants: createGrantMemory(home),
    streams: createStreams(),
    logouts: createMarks(home, kinds.logouts),
    /** The callback paths of this and of earlier configurations. */
    callbackPaths: createExpiringMap<true>(limits.registrations, now),
    /** The host names at which browsers logged in to resources in this and earlier configurations. */
    doorHostnames: createExpiringMap<true>(limits.resources, now),
    /** The last results of discovery, by the settings of the provider. */
    providers: createExpiringMap<Provider>(limits.registrations, now),
  };
}

/** Opens the shared memory, if one is configured, and waits a moment for its server. */
export async function openSharedMemory(
  config: Config,
  logger: Logger,
  metrics: Metrics | undefined,
  now: Clock,
): Promise<SharedMemory | undefined> {
  if (config.memory === undefined) return undefined;
  const memoryMetrics = metrics?.createMemoryMetrics();
  const server = watchRedis(await createRedisClient(config.memory), {
    ...memoryMetrics,
    unusable: (reason) =>
      logger.error(
        { reason },
        `shared memory cannot be used, so each relay is alone: ${fixes[reason] ?? fixes['other']}`,
      ),
    away: (reason) => logger.warn({ reason }, 'shared memory is away'),
    back: (seconds) => logger.info({ awaySeconds: Math.round(seconds) }, 'shared memory is back'),
  });
  const shared = createSharedMemory(server, (how) => memoryMetrics?.call(how), now);
  configureSharedMemory(shared, config);
  const { address } = config.memory;
  if (await server.waitUntilBack()) logger.info({ address }, 'shared memory is in use');
  return shared;
}

/** Gives the shared memory the keys and the time limit of a configuration. */
export function configureSharedMemory(shared: SharedMemory | undefined, { keySecrets, providerTimeout }: Config): void {
  if (keySecrets !== undefined) shared?.configure(deriveKeysFromFile(keySecrets).memory, providerTimeout);
}
