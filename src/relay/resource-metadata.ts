import type { Config } from '../config/config.ts';
import { issuersOf } from '../config/relations.ts';
import type { Context, Handler } from '../http/context.ts';
import { bareMetadataPath, resourceMetadata, resourceMetadataPaths } from '../routes/resource-metadata.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * The endpoints with metadata of resources. Resources at different hosts may share a path. A host with only one
 * resource also has its metadata at the bare path.
 */
export function resourceMetadataEndpoints(config: Config): readonly Endpoint[] {
  const all = config.resources.map((resource) => ({
    paths: resourceMetadataPaths(resource),
    url: new URL(resource.url),
    handle: resourceMetadata(resource, issuersOf(config, resource)),
  }));
  const hostnames = new Set(all.map(({ url }) => url.hostname));
  const byHost = Map.groupBy(all, ({ url }) => url.host);
  const atPaths = all.flatMap(({ paths, ...metadata }) => {
    const isOnlyOne = byHost.get(metadata.url.host)?.length === 1;
    const allPaths = isOnlyOne ? paths.union(new Set([bareMetadataPath])) : paths;
    return [...allPaths].map((path) => ({ path, isStandard: paths.has(path), ...metadata }));
  });
  return [...Map.groupBy(atPaths, ({ path }) => path)].map(
    ([path, candidates]): Endpoint => ({
      path,
      action: 'resource-metadata',
      methods: ['GET', 'HEAD'],
      // Clients on every page need the metadata to find the login.
      readers: { hasOrigin: () => false, all: true },
      isLimited: false,
      handle: (ctx, next) => findMetadataForHost(ctx, candidates, hostnames)?.handle(ctx, next) ?? next(),
    }),
  );
}

interface Metadata {
  readonly url: URL;
  /** Whether this is the standard path, and not the bare one. */
  readonly isStandard: boolean;
  readonly handle: Handler;
}

/**
 * Finds the metadata for the host of a request. Proxies change hosts, and drop or add ports. So a host is also compared
 * without its port, and an unknown host gets the metadata if they can belong to only one resource.
 *
 * @param candidates the metadata at the path of the request
 * @param hostnames the hosts of all resources
 */
function findMetadataForHost(
  { host, hostname }: Context,
  candidates: readonly Metadata[],
  hostnames: ReadonlySet<string>,
): Metadata | undefined {
  const withSameHost = candidates.find(({ url }) => url.host === host.toLowerCase());
  if (withSameHost !== undefined) return withSameHost;
  if (hostnames.has(hostname.toLowerCase())) {
    return onlyElement(candidates.filter(({ url }) => url.hostname === hostname.toLowerCase()));
  }
  // At the bare path, a resource at the root of its host comes before others, which only answer there because each is
  // alone on its host.
  return onlyElement(candidates.filter(({ isStandard }) => isStandard)) ?? onlyElement(candidates);
}

const onlyElement = ([first, ...others]: readonly Metadata[]) => (others.length === 0 ? first : undefined);
