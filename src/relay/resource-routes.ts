import { type Context, type Handler, inOrder, type Route } from '../http/context.ts';
import { methods } from '../http/request-guards.ts';
import { checkPath } from '../paths.ts';
import type { Door } from '../resources/door.ts';
import {
  answerWithChallenge,
  checkRequest,
  resourceMetadata,
  resourceMetadataPaths,
} from '../routes/protected-resource.ts';
import type { ServedRegistration } from './registrations.ts';

/** The addresses of resources, besides the endpoints of their registrations. */
export function resourceRoutes(
  served: readonly Pick<ServedRegistration, 'doors' | 'issuer'>[],
): Readonly<Record<string, Route>> {
  const all = served.flatMap(({ doors, issuer }) => doors.map((door) => ({ door, issuer })));
  const checks = all.map(({ door }) => [checkPath(door.resource.name), checkOf(door)] as const);
  const places = all.flatMap(({ door: { resource }, issuer }) =>
    [...resourceMetadataPaths(resource)].map((path) => ({
      path,
      url: new URL(resource.url),
      handle: resourceMetadata(resource, issuer),
    })),
  );
  const metadata = [...Map.groupBy(places, ({ path }) => path)].map(
    ([path, found]) => [path, metadataRoute(found)] as const,
  );
  return Object.fromEntries([...checks, ...metadata]);
}

function checkOf(door: Door): Route {
  const challenge = answerWithChallenge(door.resource);
  return {
    action: 'check',
    // Any method: some proxies ask with that of the request which is to pass.
    handle: inOrder(challenge, checkRequest(door)),
  };
}

/** The metadata of the resource with this URL. */
interface Metadata {
  readonly url: URL;
  readonly handle: Handler;
}

/** @param found the resources with this path, at different hosts */
function metadataRoute(found: readonly Metadata[]): Route {
  return {
    action: 'resource-metadata',
    handle: inOrder(methods('GET', 'HEAD'), (ctx, next) => metadataOfHost(ctx, found)?.handle(ctx, next) ?? next()),
  };
}

/** The only metadata, or those of the host that a request names. Proxies remove ports, and add needless ones. */
function metadataOfHost({ host, hostname }: Context, found: readonly Metadata[]) {
  if (found.length === 1) return found[0];
  return (
    found.find(({ url }) => url.host === host.toLowerCase()) ??
    found.find(({ url }) => url.hostname === hostname.toLowerCase())
  );
}
