import type { Config } from '../config/config.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { checkPath, registrationPath } from '../paths.ts';
import { resourceMetadataUrl } from '../routes/protected-resource.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { get } from './answer.ts';
import type { CheckContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import { checkUpstream } from './upstream.ts';

type ResourceConfig = Config['resources'][number];

/**
 * Asks for a resource without a token, and for its metadata, at its public address: proxies may let neither the
 * challenge nor the metadata arrive.
 */
export async function checkResource(
  context: CheckContext,
  resource: ResourceConfig,
): Promise<Finding[]> {
  const { url, upstream } = resource;
  const [answer, metadata, ofUpstream] = await Promise.all([
    get(context, url),
    get(context, resourceMetadataUrl(resource)),
    upstream ? checkUpstream(context, upstream) : [],
  ]);
  const { warning } = findingsOn('resource');
  if ('fix' in answer) {
    const what = upstream ? 'the relay' : 'it';
    const fix = `start ${what}, or correct its url; ${answer.fix}`;
    return [warning(answer.message, fix), ...ofUpstream];
  }
  const ofMetadata =
    'fix' in metadata
      ? warning(metadata.message, metadata.fix)
      : judgeMetadata(context, resource, metadata);
  return [judgeChallenge(context, resource, answer), ofMetadata, ...ofUpstream];
}

function judgeChallenge(
  { config }: CheckContext,
  resource: ResourceConfig,
  { status, headers }: UpstreamResponse,
): Finding {
  const { ok, problem, warning } = findingsOn('resource');
  const place = resourceMetadataUrl(resource);
  if (status === 401) {
    return headers['www-authenticate']?.includes(`resource_metadata="${place}"`)
      ? ok('asks for a token, and says where to log in')
      : problem(
          'asks for a token, but does not say where to log in',
          `let its proxy pass WWW-Authenticate, or its server send: Bearer resource_metadata="${place}"`,
        );
  }
  if (status >= 500) {
    const fix = 'start the relay and the resource, then look at the log of the proxy';
    return warning(`does not work now (status ${status})`, fix);
  }
  const check = `ask ${config.baseUrl}${checkPath(resource.name)} before each request, or its server ask for a token`;
  return warning(
    `answers without a token (status ${status})`,
    `let its proxy ${resource.upstream ? 'pass each request to the relay' : check}`,
  );
}

function judgeMetadata(
  { config }: CheckContext,
  resource: ResourceConfig,
  { status, body }: UpstreamResponse,
): Finding {
  const { ok, problem } = findingsOn('resource metadata');
  const { pathname } = new URL(resourceMetadataUrl(resource));
  const said = status === 200 ? parseJsonObject(body) : undefined;
  if (said === undefined) {
    const fix = `let its proxy pass ${pathname} to the relay`;
    return problem(`no metadata arrive from ${pathname} (status ${status})`, fix);
  }
  const restart = 'restart the relay that answers';
  if (said['resource'] !== resource.url) {
    return problem('are those of another resource', `${restart}, or correct url`);
  }
  const { authorization_servers: servers } = said;
  const issuer = config.baseUrl + registrationPath(resource.registration);
  return Array.isArray(servers) && servers[0] === issuer
    ? ok('lead clients to the logins of this relay')
    : problem('lead clients to other logins', `${restart}, or correct base-url or provider`);
}
