import type { Next } from 'koa';
import type { Logger } from 'pino';
import type { DoorHost } from '../browsers/browser-door.ts';
import type { Config } from '../config/config.ts';
import { createClientAddresses } from '../http/client-address.ts';
import { type Context, type Handler, inOrder } from '../http/context.ts';
import { gatewayCors } from '../http/cors.ts';
import { answerFailures } from '../http/error-responder.ts';
import { warnOfFullGateway } from '../observability/occasional-warnings.ts';
import { paths } from '../paths.ts';
import type { Doors } from '../resources/door.ts';
import type { Streams } from '../resources/streams.ts';
import { answerAtDoor } from '../routes/enter-door.ts';
import { type GatewayContext, gateway } from '../routes/gateway.ts';
import { answerWithChallenge } from '../routes/protected-resource.ts';
import { resourceMetadataPaths } from '../routes/resource-metadata.ts';
import { createPathFinder } from './api-paths.ts';
import { createHostFailure, findHostnames } from './known-hosts.ts';

/** The address of a resource whose requests pass through the relay. */
interface Gate extends Readonly<Pick<URL, 'host' | 'hostname'>> {
  readonly path: string;
  readonly handle: Handler;
}

/**
 * Creates the handlers of requests that pass through the relay to a resource.
 *
 * @param resources the doors of each resource
 * @param hosts the door hosts of the resources that open to browsers
 * @returns undefined if no resource is behind the relay
 */
export function createGateways(
  config: Config,
  resources: readonly Doors[],
  hosts: readonly DoorHost[],
  streams: Streams,
  logger: Logger,
) {
  const { baseUrl, trustedProxies, behindUnknownProxy, logPeople } = config;
  const { clientNetworkUnlessProxy } = createClientAddresses(trustedProxies, behindUnknownProxy);
  const context: GatewayContext = {
    streams,
    hasSeveralGateways: resources.filter(([{ resource }]) => resource.upstream !== undefined).length > 1,
    clientNetworkUnlessProxy,
    onFull: warnOfFullGateway(logger, streams.largestHolder, logPeople),
  };
  const gates = resources.flatMap((doors): Gate[] => {
    const [{ resource }] = doors;
    const { url, upstream } = resource;
    if (upstream === undefined) return [];
    const doorHost = hosts.find((host) => host.resource.name === resource.name);
    const failures = doorHost ? answerFailures(answerAtDoor(doorHost)) : answerWithChallenge(resource);
    const handle = inOrder(failures, gatewayCors, gateway(doors, upstream, context, doorHost));
    const { host, hostname, pathname } = new URL(url);
    return [{ host, hostname, path: pathname, handle }];
  });
  if (gates.length === 0) return undefined;
  const login = new URL(baseUrl);
  const hasSeveralHosts = gates.some(({ host }) => host !== login.host);
  const knownHostnames = findHostnames(config, resources);
  const hostFailure = createHostFailure(config, knownHostnames);
  const metadataPaths = new Set(resources.flatMap(([{ resource }]) => [...resourceMetadataPaths(resource)]));
  const findersByHost = groupFinders(gates, ({ host }) => host);
  // Hosts also match without their port, because proxies drop or add it. If only the port distinguishes the host of a
  // resource from the host of the login, the port has to match. Otherwise, the resource would get requests of logins.
  const matchesWithoutPort = ({ host, hostname }: Gate) => hostname !== login.hostname || host === login.host;
  const findersByHostname = groupFinders(gates.filter(matchesWithoutPort), ({ hostname }) => hostname);
  // Probes send an IP address as their host.
  const isProbe = (path: string) => path === paths.alive || path === paths.ready;

  return {
    /** Passes a request at or below the address of a resource to its server. */
    route(ctx: Context, next: Next): unknown {
      const { path } = ctx;
      // If the login has the only host, its name is not compared, because some proxies change it.
      const { host, hostname } = hasSeveralHosts ? ctx : login;
      if (!knownHostnames.has(hostname.toLowerCase())) {
        if (isProbe(path)) return next();
        throw hostFailure(ctx);
      }
      // A gate at the root of its host would hide its own metadata.
      if (metadataPaths.has(path)) return next();
      const findByHostname = host === login.host ? undefined : findersByHostname.get(hostname.toLowerCase());
      const findGate = findersByHost.get(host.toLowerCase()) ?? findByHostname;
      const gate = findGate?.(path);
      if (gate === undefined) return next();
      ctx.state.route = 'gateway';
      ctx.state.action = 'gateway';
      return gate.handle(ctx, next);
    },
  };
}

/** Groups gates by host, and creates for each host a function that finds a gate by path. */
function groupFinders(gates: readonly Gate[], hostOf: (gate: Gate) => string) {
  const gatesByHost = [...Map.groupBy(gates, hostOf)];
  return new Map(gatesByHost.map(([host, atHost]) => [host, createPathFinder(atHost)]));
}
