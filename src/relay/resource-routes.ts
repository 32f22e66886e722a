import type { Context, Handler, Route } from '../http/context.ts';
import { inOrder } from '../http/context.ts';
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
    ([path, found]) => [path, metadataOf(found)] as const,
  );
  return Object.fromEntries([...checks, ...metadata]);
}

function checkOf(door: Door): Route {
  const challenge = answerWithChallenge(door.resource);
  return {
    action: 'check',
    // Some proxies ask with the method of the request: each needs a token.
    handle: inOrder(challenge, checkRequest(door)),
  };
}

/** The metadata of one resource. */
interface Metadata {
  readonly url: URL;
  readonly handle: Handler;
}

/** @param found the resources with this path, at different hosts */
function metadataOf(found: readonly Metadata[]): Route {
  return {
    action: 'resource-metadata',
    handle: inOrder(
      methods('GET', 'HEAD'),
      (ctx, next) => metadataFor(ctx, found)?.handle(ctx, next) ?? next(),
    ),
  };
}

/** The only metadata, or those of the host which a request names: with a port that proxies remove, or with one of no need. */
function metadataFor({ host, hostname }: Context, found: readonly Metadata[]) {
  if (found.length === 1) return found[0];
  return (
    found.find(({ url }) => url.host === host.toLowerCase()) ??
    found.find(({ url }) => url.hostname === hostname.toLowerCase())
  );
}
