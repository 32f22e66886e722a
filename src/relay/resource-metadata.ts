import type { Context, Handler } from '../http/context.ts';
import { bareMetadataPath, resourceMetadata, resourceMetadataPaths } from '../routes/protected-resource.ts';
import type { Endpoint } from './endpoint.ts';
import type { ServedRegistration } from './registrations.ts';

/**
 * The metadata of all resources. Resources at different hosts may have the same path. A host with one resource also has
 * its metadata at the bare path.
 */
export function resourceMetadataEndpoints(
  served: readonly Pick<ServedRegistration, 'doors' | 'issuer'>[],
): readonly Endpoint[] {
  const all = served.flatMap(({ doors, issuer }) =>
    doors.map(({ resource }) => ({
      paths: resourceMetadataPaths(resource),
      url: new URL(resource.url),
      handle: resourceMetadata(resource, issuer),
    })),
  );
  const hostnames = new Set(all.map(({ url }) => url.hostname));
  const byHost = Map.groupBy(all, ({ url }) => url.host);
  const places = all.flatMap(({ paths, ...metadata }) => {
    const isOnlyOne = byHost.get(metadata.url.host)?.length === 1;
    const there = isOnlyOne ? paths.union(new Set([bareMetadataPath])) : paths;
    return [...there].map((path) => ({ path, isItsOwn: paths.has(path), ...metadata }));
  });
  return [...Map.groupBy(places, ({ path }) => path)].map(
    ([path, found]): Endpoint => ({
      path,
      action: 'resource-metadata',
      methods: ['GET', 'HEAD'],
      // Metadata lead clients on every page to the login.
      readers: { hasOrigin: () => false, all: true },
      isLimited: false,
      handle: (ctx, next) => metadataOfHost(ctx, found, hostnames)?.handle(ctx, next) ?? next(),
    }),
  );
}

interface Metadata {
  readonly url: URL;
  /** Whether this is the standard address, and not the bare path. */
  readonly isItsOwn: boolean;
  readonly handle: Handler;
}

/**
 * The metadata for the host of a request. Proxies change hosts, and drop or add ports, so an unknown host gets the
 * metadata if there is only one resource here.
 *
 * @param hostnames of all resources
 */
function metadataOfHost({ host, hostname }: Context, found: readonly Metadata[], hostnames: ReadonlySet<string>) {
  const withPort = found.find(({ url }) => url.host === host.toLowerCase());
  if (withPort !== undefined) return withPort;
  const there = found.filter(({ url }) => url.hostname === hostname.toLowerCase());
  const own = found.filter(({ isItsOwn }) => isItsOwn);
  const meant = hostnames.has(hostname.toLowerCase()) ? [there] : [own, found];
  return meant.find(({ length }) => length === 1)?.[0];
}
