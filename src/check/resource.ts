import type { ResourceConfig } from '../config/config.ts';
import { issuersOf } from '../config/relations.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { pathOfCheck } from '../paths.ts';
import { resourceMetadataUrl } from '../routes/resource-metadata.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { httpGet, isNotFoundByRelay } from './answer.ts';
import { checkBrowserLogin } from './browser-login.ts';
import type { CheckContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import { explainIfOthersMayReach, failsOnlyHere, type Unreached } from './unreached.ts';
import { checkUpstream } from './upstream.ts';

/**
 * Requests a resource without a token, and its metadata, at its public address. A proxy may withhold the challenge or
 * the metadata.
 */
export async function checkResource(context: CheckContext, resource: ResourceConfig): Promise<Finding[]> {
  const { url, upstream, browser } = resource;
  const [answer, metadata, ofEndpoint, ofUpstream, ofBrowsers] = await Promise.all([
    httpGet(context, url),
    httpGet(context, resourceMetadataUrl(resource)),
    upstream ? [] : checkCheckEndpoint(context, resource),
    upstream ? checkUpstream(context, upstream, url, browser !== undefined) : [],
    browser ? checkBrowserLogin(context, resource) : [],
  ]);
  const { warning } = findingsOn('resource');
  if ('fix' in answer) return [judgeUnreached(resource, answer), ...ofEndpoint, ...ofUpstream];
  const ofMetadata =
    'fix' in metadata ? warning(metadata.message, metadata.fix) : judgeMetadata(context, resource, metadata);
  return [judgeChallenge(context, resource, answer), ofMetadata, ...ofEndpoint, ...ofBrowsers, ...ofUpstream];
}

/**
 * Asks the relay at its base URL, as the proxy of a resource does, whether a request may pass. The relay answers 404 if it
 * has no resource of this name.
 *
 * @returns no finding if something else answers, because only the proxy has to reach this endpoint
 */
async function checkCheckEndpoint(context: CheckContext, resource: ResourceConfig): Promise<Finding[]> {
  const { baseUrl } = context.config;
  const { ok, problem } = findingsOn('check endpoint');
  const answer = await httpGet(context, baseUrl + pathOfCheck(resource.name));
  if ('fix' in answer) return [];
  if (isNotFoundByRelay(answer)) {
    const fix = 'restart the relay with this configuration: a proxy that asks about this name gets 404';
    return [problem(`the relay at ${baseUrl} has no resource of this name`, fix)];
  }
  return readMetadataUrl(answer) === resourceMetadataUrl(resource) ? [ok('the relay has a resource of this name')] : [];
}

/** Reads the address of the metadata in a challenge for a token; undefined if an answer has no such challenge. */
function readMetadataUrl({ status, headers }: UpstreamResponse): string | undefined {
  return status === 401 ? /resource_metadata="([^"]*)"/.exec(headers['www-authenticate'] ?? '')?.[1] : undefined;
}

/**
 * Judges a resource that was not reached. If people open it with browsers, this is a warning, because a wrong host in
 * `url` has no other symptom here. It is no problem, because some networks do not lead back to their own public address.
 */
function judgeUnreached({ upstream, browser }: ResourceConfig, answer: Unreached): Finding {
  const { notChecked, warning } = findingsOn('resource');
  const { message, isOnThisMachine, errorCode } = answer;
  const server = browser ? 'its proxy' : 'it';
  const fix = `start ${upstream ? 'the relay' : server}, or correct its url; ${answer.fix}`;
  // The relay itself listens there, and may not have been started yet.
  const isRelayStopped = upstream !== undefined && errorCode === 'ECONNREFUSED';
  if (browser && !isOnThisMachine && !isRelayStopped && !failsOnlyHere(answer)) {
    const ifTheyDo = 'if browsers reach it, name the host in /etc/hosts of this machine, so that it can be checked';
    return warning(`browsers have to reach it, and from here it was not reached: ${message}`, `${fix}; ${ifTheyDo}`);
  }
  const onlyForOthers = explainIfOthersMayReach(browser ? 'browsers' : 'clients', answer);
  return onlyForOthers === undefined ? warning(message, fix) : notChecked(onlyForOthers, fix);
}

/**
 * Judges the answer to a request without a token. Only a 401 whose challenge names the metadata leads clients to a
 * login. Any other status below 500 is only a warning, because the server may require a token for other methods or
 * paths, such as the POST of MCP.
 */
function judgeChallenge({ config }: CheckContext, resource: ResourceConfig, answer: UpstreamResponse): Finding {
  const { ok, problem, warning } = findingsOn('resource');
  const { status } = answer;
  const metadataUrl = resourceMetadataUrl(resource);
  const askFirst = resource.upstream
    ? `let its proxy pass each request to the relay, with Host: ${new URL(resource.url).host}`
    : `let its proxy ask ${config.baseUrl}${pathOfCheck(resource.name)} before each request`;
  if (status === 401) {
    const named = readMetadataUrl(answer);
    if (named === metadataUrl) return ok('asks for a token, and says where to log in');
    const other = config.resources.find((candidate) => resourceMetadataUrl(candidate) === named);
    if (other !== undefined) return problem(`asks for a token of another resource, ${other.name}`, askFirst);
    return problem(
      'asks for a token, but does not say where to log in',
      `let its proxy pass WWW-Authenticate, or its server send: Bearer resource_metadata="${metadataUrl}"`,
    );
  }
  if (isNotFoundByRelay(answer)) return problem('a relay answers, but has no such resource', askFirst);
  if (status >= 500) {
    const start = 'start the relay and the resource, then look at the log of the proxy';
    // nginx turns every other status of a check into 500.
    const fix = resource.upstream ? start : `${start}; if it says that the check gets 404, ${askFirst}`;
    return warning(`does not work now (status ${status})`, fix);
  }
  const fix = resource.upstream ? askFirst : `${askFirst}, or its server ask for a token`;
  return warning(`answers without a token (status ${status})`, fix);
}

/** Judges the metadata of a resource, which must name this resource, and this relay as the first to log in at. */
function judgeMetadata({ config }: CheckContext, resource: ResourceConfig, answer: UpstreamResponse): Finding {
  const { status, body } = answer;
  const { ok, problem } = findingsOn('resource metadata');
  const { pathname } = new URL(resourceMetadataUrl(resource));
  const metadata = status === 200 ? parseJsonObject(body) : undefined;
  if (isNotFoundByRelay(answer)) {
    return problem(`a relay answers at ${pathname}, but has no metadata there`, 'restart that relay, or correct url');
  }
  if (metadata === undefined) {
    const fix = `let its proxy pass ${pathname} to the relay`;
    return problem(`no metadata arrive from ${pathname} (status ${status})`, fix);
  }
  const restart = 'restart the relay that answers';
  if (metadata['resource'] !== resource.url) {
    return problem('are those of another resource', `${restart}, or correct url`);
  }
  const { authorization_servers: servers } = metadata;
  const issuers = issuersOf(config, resource);
  return Array.isArray(servers) && issuers.every((issuer, index) => servers[index] === issuer)
    ? ok('lead clients to the logins of this relay')
    : problem('lead clients to other logins', `${restart}, or correct base-url or provider`);
}
