import type { Context, Handler } from '../http/context.ts';
import { resourceMetadata, resourceMetadataPaths } from '../routes/protected-resource.ts';
import type { Endpoint } from './endpoint.ts';
import type { ServedRegistration } from './registrations.ts';

/** The metadata of all resources. Resources at different hosts may have the same path. */
export function resourceMetadataEndpoints(
  served: readonly Pick<ServedRegistration, 'doors' | 'issuer'>[],
): readonly Endpoint[] {
  const places = served.flatMap(({ doors, issuer }) =>
    doors.flatMap(({ resource }) =>
      [...resourceMetadataPaths(resource)].map((path) => ({
        path,
        url: new URL(resource.url),
        handle: resourceMetadata(resource, issuer),
      })),
    ),
  );
  return [...Map.groupBy(places, ({ path }) => path)].map(
    ([path, found]): Endpoint => ({
      path,
      action: 'resource-metadata',
      methods: ['GET', 'HEAD'],
      // Metadata lead clients on every page to the login.
      readers: { hasOrigin: () => false, all: true },
      isLimited: false,
      handle: (ctx, next) => metadataOfHost(ctx, found)?.handle(ctx, next) ?? next(),
    }),
  );
}

/** The metadata of the resource with this URL. */
interface Metadata {
  readonly url: URL;
  readonly handle: Handler;
}

/** The only metadata, or those of the host that a request names. Proxies remove ports, and add needless ones. */
function metadataOfHost({ host, hostname }: Context, found: readonly Metadata[]) {
  if (found.length === 1) return found[0];
  return (
    found.find(({ url }) => url.host === host.toLowerCase()) ??
    found.find(({ url }) => url.hostname === hostname.toLowerCase())
  );
}
