import type { Middleware } from 'koa';
import { makePublic } from '../http/cors.ts';
import type { Resource } from '../resources/resource.ts';

/** Where clients that know only the host of a resource look for its metadata. */
export const bareMetadataPath = '/.well-known/oauth-protected-resource';

/**
 * The paths of a resource's metadata. The first has a slash at the end if the path of the resource has one. Then the
 * second is the same path without the slash.
 *
 * @see RFC 9728 §3.1
 */
export function resourceMetadataPaths({ url }: Pick<Resource, 'url'>): ReadonlySet<string> {
  const { pathname } = new URL(url);
  return new Set([bareMetadataPath + pathname, bareMetadataPath + pathname.replace(/\/$/, '')]);
}

/** The URL of a resource's metadata, which the challenge for a token names. @see RFC 9728 §5.1 */
export function resourceMetadataUrl({ url }: Pick<Resource, 'url'>): string {
  const [path = ''] = resourceMetadataPaths({ url });
  return new URL(url).origin + path;
}

/**
 * `GET /.well-known/oauth-protected-resource<path>`: tells clients where to log in for a resource.
 *
 * @param authorizationServers the issuers where clients can log in for it
 * @see RFC 9728 §3.2
 */
export function resourceMetadata(
  { name, url, scope }: Pick<Resource, 'name' | 'url' | 'scope'>,
  authorizationServers: readonly string[],
): Middleware {
  const metadata = {
    resource: url,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
    scopes_supported: scope?.split(' '),
    resource_name: name,
  };
  return async (ctx) => {
    makePublic(ctx);
    ctx.set('Cache-Control', 'public, max-age=60');
    ctx.body = metadata;
  };
}
