import type { RequestListener } from 'node:http';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { ProviderSettings } from '../config/provider-settings.ts';
import { settleEngine } from '../engine.ts';
import { createReadiness, type Readiness } from '../http/readiness.ts';
import { limits } from '../limits.ts';
import { deriveStateKey, type StateKeys } from '../login/keys.ts';
import type { Metrics, Situation } from '../observability/metrics.ts';
import { openMetricsPort } from '../observability/metrics-port.ts';
import { requestLog } from '../observability/request-log.ts';
import type { RequestRecord } from '../observability/request-record.ts';
import type { Secret } from '../secret.ts';
import { limitLog } from '../server/limit-log.ts';
import type { PassedSocket } from '../server/passed-socket.ts';
import { listen, type Port, type ServerObserver } from '../server/server.ts';
import type { ProviderClient } from '../upstream/client.ts';
import { deferProviderClient } from '../upstream/deferred-provider-client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import {
  discoveredProvider,
  knownProvider,
  type ProviderSource,
} from '../upstream/provider-source.ts';
import { version } from '../version.ts';

// After the port is open and the first request answered, but long before a login comes back.
const prepareDelay = 100;

/** A relay that answers requests, whoever listens for them. */
export interface Relay {
  readonly listener: RequestListener;
  readonly readiness: Readiness;
  /** How many calls to the provider are being made right now. */
  callsUnderWay(): number;
  /** Makes what the first call to the provider would have to wait for. */
  prepare(): void;
  /** Stops learning about the provider, and closes the connections to it. */
  close(): void;
}

/**
 * Makes a relay: its calls to the provider, its keys, its application.
 *
 * @param now milliseconds since 1970
 * @param observers told of every request once it is over, beside the log
 */
export async function createRelay(
  config: Config,
  logger: Logger,
  now: () => number = Date.now,
  observers: readonly ((record: RequestRecord) => void)[] = [],
): Promise<Relay> {
  const client = deferProviderClient(async () => {
    const { createProviderClient } = await import('../upstream/client.ts');
    settleEngine();
    const within = { timeout: config.providerTimeout, concurrentCalls: limits.providerCalls };
    return createProviderClient(`login-relay/${version}`, within, config.proxy);
  });
  const [stateKeys, source, rateLimit, { createApp }] = await Promise.all([
    // A key is derived on another thread: the application loads in the meantime.
    stateKeysOf(config),
    providerSource(config.provider, client, logger),
    rateLimitOf(config),
    import('./app.ts'),
  ]);
  const readiness = createReadiness(source.known);
  const app = createApp(config, {
    observers: [requestLog(logger), ...observers],
    readiness,
    source,
    client,
    stateKeys,
    rateLimit,
    now,
  });
  return {
    listener: app.callback(),
    readiness,
    callsUnderWay: client.underWay,
    prepare: client.prepare,
    close() {
      source.close();
      client.close();
    },
  };
}

/** A relay that listens. */
export interface RunningRelay {
  /** Where it listens, as `http://host:port`. */
  readonly address: string;
  /** Where it answers metrics, if anywhere. */
  readonly metricsAddress: string | undefined;
  /**
   * Goes on with another configuration, on the same port; requests under way end with the old. One at a
   * time: the next may come once this has resolved.
   */
  reload(changed: Config): Promise<void>;
  /** Lets what is under way finish, and ends. */
  stop(): Promise<void>;
}

/** A relay that has yet to listen. */
interface PreparedRelay {
  /** What it counts, where its configuration asks for metrics. */
  readonly metrics: Metrics | undefined;
  /**
   * @param where the configured port, or a socket that was passed to this process
   * @throws {ListenError} where the port cannot be opened
   * @throws {ConfigError} where the passed socket is of no use
   */
  listen(where?: Port | PassedSocket): Promise<ListeningRelay>;
}

/** A relay that listens, whoever tells what it counts. */
interface ListeningRelay extends Pick<RunningRelay, 'address' | 'reload'> {
  stop(): Promise<void>;
}

/** Makes a relay as far as that goes without a port. */
async function prepareRelay(config: Config, logger: Logger): Promise<PreparedRelay> {
  let situation = (): Situation => ({ callsUnderWay: 0, ready: false });
  const metrics = await createMetricsFor(config, () => situation());
  const observers = metrics === undefined ? [] : [metrics.observe];
  const create = (by: Config) => createRelay(by, logger, Date.now, observers);
  const creating = create(config);
  const logLimit = limitLog(logger);
  const most = { ...limits, connections: config.maxConnections };
  const observer: ServerObserver = {
    unreadableRequest(request) {
      logger.info({ ...request, method: null, route: null }, 'request');
      metrics?.observeUnreadable(request);
    },
    limitHit(limit) {
      logLimit(limit);
      metrics?.limitHit(limit);
    },
  };
  return {
    metrics,
    async listen(where = config) {
      // The port opens meanwhile: whoever finds it open waits for the relay.
      const listener: RequestListener = async (request, response) =>
        (await creating).listener(request, response);
      const server = await listen(listener, where, most, observer, config.certificate);
      let relay = await creating;
      let stopping = false;
      situation = () => ({
        callsUnderWay: relay.callsUnderWay(),
        ready: relay.readiness.reasons().length === 0,
      });
      server.serve(relay.listener);
      setTimeout(() => relay.prepare(), prepareDelay).unref();
      return {
        address: server.address,
        async reload(changed) {
          const before = relay;
          const next = await create(changed);
          if (stopping) {
            next.close();
            // A stop has overtaken it: it has neither succeeded nor failed, and the process ends.
            return new Promise(() => {});
          }
          relay = next;
          relay.prepare();
          server.serve(relay.listener);
          if (changed.certificate) server.certify(changed.certificate);
          // A call to the provider that is under way may last as long as this.
          setTimeout(before.close, config.providerTimeout).unref();
        },
        async stop() {
          stopping = true;
          relay.readiness.stopping = true;
          await server.close();
          relay.close();
        },
      };
    },
  };
}

/**
 * Makes a relay that listens.
 *
 * @param where the configured port, or a socket that was passed to this process
 * @throws {ListenError} where a port cannot be opened
 * @throws {ConfigError} where the passed socket is of no use
 */
export async function startRelay(
  config: Config,
  logger: Logger,
  where?: PassedSocket,
): Promise<RunningRelay> {
  const prepared = await prepareRelay(config, logger);
  const metricsPort = await openMetricsPort(prepared.metrics, config.metrics);
  const relay = await prepared.listen(where);
  return {
    ...relay,
    metricsAddress: metricsPort?.address,
    async stop() {
      await Promise.all([relay.stop(), metricsPort?.close()]);
    },
  };
}

// Only who wants metrics pays for loading and counting them.
async function createMetricsFor(
  { metrics: wanted, pathName }: Config,
  situation: () => Situation,
): Promise<Metrics | undefined> {
  if (wanted === undefined) return undefined;
  const { createMetrics } = await import('../observability/metrics.ts');
  const login = `/auth/${pathName}`;
  const routes = { login, callback: `${login}/callback`, user: '/api/user' };
  return createMetrics(routes, situation);
}

// Only who wants clients to be limited pays for loading what counts them.
async function rateLimitOf({ rateLimit: wanted }: Config): Promise<Middleware | undefined> {
  if (wanted === undefined) return undefined;
  const { rateLimit } = await import('../http/rate-limit.ts');
  const { clientAddressBehind } = await import('../http/client-address.ts');
  return rateLimit(wanted.perMinute, clientAddressBehind(wanted.trustedProxies));
}

function stateKeysOf({ stateKeys, clientSecret }: Config): StateKeys | Promise<StateKeys> {
  if (stateKeys === undefined) return deriveStateKey(clientSecret);
  const [current, ...previous] = stateKeys;
  return [toKey(current), ...previous.map(toKey)];
}

function toKey(secret: Secret): Buffer {
  return Buffer.from(secret.reveal());
}

async function providerSource(
  settings: ProviderSettings,
  client: ProviderClient,
  logger: Logger,
): Promise<ProviderSource> {
  if ('known' in settings) return knownProvider(settings.known);
  const { discovered } = settings;
  return discoveredProvider(
    () => discoverProvider(client, discovered),
    (attempt) => {
      if (attempt.outcome === 'discovered') logger.info(attempt, 'provider discovery');
      else logger.warn(attempt, 'provider discovery');
    },
  );
}
