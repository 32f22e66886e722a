import type { Next } from 'koa';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { RelayError } from '../failures/relay-error.ts';
import { type Context, type Handler, inOrder } from '../http/context.ts';
import { gatewayCors } from '../http/cors.ts';
import { answerFailures } from '../http/error-responder.ts';
import { callersBehind } from '../http/subscriber.ts';
import { warnOfFullGateway } from '../observability/occasional-warnings.ts';
import { paths } from '../paths.ts';
import type { Door } from '../resources/door.ts';
import type { Streams } from '../resources/streams.ts';
import { answerAtDoor, type DoorPlace } from '../routes/enter-door.ts';
import { type GatewayContext, gateway } from '../routes/gateway.ts';
import { answerWithChallenge, resourceMetadataPaths } from '../routes/protected-resource.ts';
import { createPathFinder } from './api-paths.ts';

interface Gate extends Readonly<Pick<URL, 'host' | 'hostname'>> {
  readonly path: string;
  readonly handle: Handler;
}

/**
 * Creates the addresses of the resources behind the relay.
 *
 * @param doors of all resources
 * @param places of the resources that open to browsers
 * @returns undefined if there are none
 */
export function createGateways(
  { baseUrl, trustedProxies, behindUnknownProxy, logPeople }: Config,
  doors: readonly Door[],
  places: readonly DoorPlace[],
  streams: Streams,
  logger: Logger,
) {
  const context: GatewayContext = {
    streams,
    areSeveral: doors.filter(({ resource }) => resource.upstream !== undefined).length > 1,
    subscriberUnlessProxy: callersBehind(trustedProxies, behindUnknownProxy).subscriberUnlessProxy,
    onFull: warnOfFullGateway(logger, streams.largestHolder, logPeople),
  };
  const all = doors.flatMap((door): Gate[] => {
    const { url, upstream } = door.resource;
    if (upstream === undefined) return [];
    const opening = places.find((one) => one.door.byToken === door);
    const failures = opening ? answerFailures(answerAtDoor(opening)) : answerWithChallenge(door.resource);
    const handle = inOrder(failures, gatewayCors, gateway(door, upstream, context, opening));
    const place = new URL(url);
    return [{ host: place.host, hostname: place.hostname, path: place.pathname, handle }];
  });
  if (all.length === 0) return undefined;
  const login = new URL(baseUrl);
  const areByHost = all.some(({ host }) => host !== login.host);
  const known = new Set([login.hostname, ...doors.map(({ resource }) => new URL(resource.url).hostname)]);
  const forMetadata = new Set(doors.flatMap((door) => [...resourceMetadataPaths(door.resource)]));
  const byHost = findersBy(all, ({ host }) => host);
  // Also match without the port, because proxies drop or add it. Except where only the port separates resource and
  // login host: the resource would swallow login requests.
  const needsNoPort = ({ host, hostname }: Gate) => hostname !== login.hostname || host === login.host;
  const byHostname = findersBy(all.filter(needsNoPort), ({ hostname }) => hostname);
  // Probes use an IP address, whatever the names are.
  const isProbe = (path: string) => path === paths.alive || path === paths.ready;

  return {
    /** Passes a request at or below the address of a resource to its server. */
    route(ctx: Context, next: Next): unknown {
      const { path } = ctx;
      // If the login has the only host, its name is not compared, because some proxies change it.
      const { host, hostname } = areByHost ? ctx : login;
      if (!known.has(hostname.toLowerCase())) {
        if (isProbe(path)) return next();
        throw new RelayError('host_unknown');
      }
      // A gate at the root of its host would hide its own metadata.
      if (forMetadata.has(path)) return next();
      const find =
        byHost.get(host.toLowerCase()) ?? (host === login.host ? undefined : byHostname.get(hostname.toLowerCase()));
      const found = find?.(path);
      if (found === undefined) return next();
      ctx.state.route = 'gateway';
      ctx.state.action = 'gateway';
      return found.handle(ctx, next);
    },
  };
}

/** Finders of gates by path, for each host. */
const findersBy = (gates: readonly Gate[], nameOf: (gate: Gate) => string) =>
  new Map([...Map.groupBy(gates, nameOf)].map(([name, there]) => [name, createPathFinder(there)]));
