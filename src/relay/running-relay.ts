import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { hasSessions } from '../config/relations.ts';
import { unixSocketWord } from '../http/client-address.ts';
import { limits } from '../limits.ts';
import { longestWait } from '../login/refusal-limit.ts';
import { createLoggedAddresses } from '../observability/logged-address.ts';
import type { Situation } from '../observability/metrics.ts';
import { openMetricsPort } from '../observability/metrics-port.ts';
import { createLimitLog, warnOfOtherProtocols } from '../observability/occasional-warnings.ts';
import type { Metrics } from '../observability/request-metrics.ts';
import { connectionsThatFit, mostOpenFiles } from '../server/open-files.ts';
import { listen, type PassedSocket, type ServerObserver } from '../server/server.ts';
import { configureSharedMemory, createMemory, type Memory, openSharedMemory } from './memory.ts';
import { createRelay } from './relay.ts';

export type RunningRelay = Awaited<ReturnType<typeof startRelay>>;

/**
 * Creates a relay and listens.
 *
 * @param socket a passed socket, which replaces the configured port
 * @throws {ListenError} if a port cannot be opened
 * @throws {ConfigError} if the passed socket cannot be listened on
 */
export async function startRelay(config: Config, logger: Logger, socket: PassedSocket | undefined) {
  // Metrics may be read before there is a relay.
  let situation = (): Situation => ({ callsInFlight: 0, ready: false, providers: [] });
  // The library is loaded only if metrics are enabled.
  const loadMetrics = () => import('../observability/request-metrics.ts');
  const metrics = config.metrics && (await loadMetrics()).createMetrics(() => situation());
  const observers = metrics === undefined ? [] : [metrics.observe];
  const shared = await openSharedMemory(config, logger, metrics, Date.now);
  const memory = createMemory(Date.now, shared);
  const create = (settings: Config) => createRelay(settings, logger, { observers, memory });
  // Open it first, so that it serves metrics while the relay waits for the issuer.
  const metricsPort = await openMetricsPort(metrics, config.metrics, logger);
  let relay = await create(config);
  let currentConfig = config;
  // Only servers behind the gateway have WebSockets.
  const takesWebSockets = () => hasGateways(currentConfig);
  situation = () => describeSituation(relay, currentConfig, memory);
  const server = await listen(
    relay.listener,
    socket ?? { host: config.host, port: config.port },
    { ...limits, headerSize: headerSizeFor(config), connections: decideConnectionLimit(config, logger) },
    createServerObserver(config, logger, metrics),
    config.certificate,
    takesWebSockets,
  );
  setEngineFlags();
  if (server.address === 'unix') warnOfUnixSocket(config, logger);
  return {
    /** `http://host:port`, `https://host:port`, or `unix` for a Unix socket. */
    address: server.address,
    /** Undefined if metrics are off. */
    metricsAddress: metricsPort?.address,
    requestsInFlight: server.requestsInFlight,
    /** The configuration with which the relay answers now. */
    config: (): Config => currentConfig,
    /**
     * Switches to another configuration on the same port. Requests in flight end with the old one. Do not call it again
     * before it has ended.
     *
     * @returns false if the relay was closed before it could switch
     */
    async reload(changed: Config): Promise<boolean> {
      const next = await create(changed);
      if (relay.readiness.stopping) {
        next.close();
        return false;
      }
      const previous = relay;
      const previousConfig = currentConfig;
      relay = next;
      currentConfig = changed;
      configureSharedMemory(shared, changed);
      server.serve(relay.listener);
      relay.takeOverStreams();
      if (changed.certificate) server.replaceCertificate(changed.certificate);
      setTimeout(previous.close, timeToLastCall(previousConfig)).unref();
      return true;
    },
    /** Stops listening, lets requests in flight finish, and closes every connection. */
    async close(): Promise<void> {
      relay.readiness.stopping = true;
      memory.streams.stop();
      await Promise.all([server.close(), metricsPort?.close()]);
      relay.close();
      memory.streams.close();
      await shared?.close();
    },
  };
}

/** Describes what the metrics show of a relay at this moment. */
function describeSituation(
  relay: Awaited<ReturnType<typeof createRelay>>,
  { registrations }: Config,
  { streams, home: { shared } }: Memory,
): Situation {
  const unavailable = relay.readiness.unavailable();
  return {
    callsInFlight: relay.callsInFlight(),
    ready: relay.readiness.reasons().length === 0,
    streams: streams.counts(),
    streamHolders: streams.largestHolder(),
    memoryIsUp: shared && !shared.isAway(),
    providers: registrations.map(({ name }) => ({
      registration: registrations.length > 1 ? name : undefined,
      isKnown: !unavailable.includes(name),
    })),
  };
}

/** Creates the observer that logs and counts what the server answers without the relay. */
function createServerObserver(
  { logClientAddress, trustedProxies }: Config,
  logger: Logger,
  metrics: Metrics | undefined,
): ServerObserver {
  const addresses = createLoggedAddresses(logClientAddress, trustedProxies);
  const logLimit = createLimitLog(logger);
  const warnOfProtocol = warnOfOtherProtocols(logger, addresses.neighbour);
  return {
    unreadableRequest(request, peer) {
      const clientAddress = addresses.peer(peer);
      logger.info({ ...request, clientAddress, method: null, route: null }, 'request');
      metrics?.observeUnreadable(request);
      warnOfProtocol(request, peer);
    },
    limitHit(limit) {
      logLimit(limit);
      metrics?.limitHit(limit);
    },
  };
}

/** The bytes that the headers of a request may have. A reload does not change this limit. */
export function headerSizeFor({ frontEnds, resources }: Config): number {
  const haveCookies = frontEnds.some(hasSessions) || resources.some(({ browser }) => browser !== undefined);
  return haveCookies ? limits.headerSizeWithCookies : limits.headerSize;
}

/** Decides how many connections are accepted. Warns if the process may open too few files for the configured number. */
function decideConnectionLimit(config: Config, logger: Logger): number {
  const { maxConnections } = config;
  const openFiles = mostOpenFiles();
  if (openFiles === undefined) return maxConnections;
  const fitting = connectionsThatFit(openFiles, hasGateways(config));
  if (fitting >= maxConnections) return maxConnections;
  logger.warn(
    { openFiles, maxConnections, connections: fitting },
    'fewer connections than --max-connections are accepted, because few files may be open: raise LimitNOFILE of the service, or `ulimit -n`',
  );
  return fitting;
}

const hasGateways = ({ resources }: Config) => resources.some(({ upstream }) => upstream !== undefined);

/** The longest time, in milliseconds, in which a request that is in flight now may still call the provider. */
function timeToLastCall({ frontEnds, providerTimeout }: Config): number {
  // A callback may wait for its turn (`longestWait`), and until the call of another login has ended. Then it makes its
  // own call, asks whether the person may log in, and revokes the token if not.
  const callsOfLogin = 4;
  const longestLogin = longestWait + callsOfLogin * providerTimeout;
  const hasApis = frontEnds.some(({ apis }) => apis.length > 0);
  return hasApis ? Math.max(longestLogin, limits.apiCallTime) : longestLogin;
}

/** Warns if a Unix socket hides the addresses by which clients are limited. */
function warnOfUnixSocket({ rateLimit, refusedExchanges, trustedProxies }: Config, logger: Logger) {
  const limitsAddresses = rateLimit !== undefined || refusedExchanges > 0;
  if (!limitsAddresses || trustedProxies.includes(unixSocketWord)) return;
  logger.warn(
    '--trusted-proxies (TRUSTED_PROXIES) does not list unix: behind the Unix socket all clients share one rate limit, and refused exchanges are not limited',
  );
}

/**
 * Sets V8's flags for a program that allocates the same short-lived objects for years. Call it after the start, because
 * V8 rejects cached code if its flags differ.
 */
function setEngineFlags(): void {
  // With pretenuring, V8 would forever allocate as old what lived long during warm-up. A lookup would take a fifth more
  // CPU time, and a young collection ten milliseconds instead of one.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Collect old objects after a growth of a fifth, to keep memory small.
  setFlagsFromString('--heap-growing-percent=20');
  // Optimize after a third of the usual number of calls, because unoptimized code allocates closures in properties as
  // old objects. Each stream of Node.js has one, and would keep all objects of its call to the provider until the next
  // full collection. A lookup would take two thirds more CPU time.
  setFlagsFromString('--invocation-count-for-turbofan=1000');
}
