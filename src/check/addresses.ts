import type { FrontEndConfig } from '../config/config.ts';
import { frontEndsWithBrowsers, resourcesOfFrontEnd } from '../config/relations.ts';
import { deriveCodeChallenge } from '../login/pkce.ts';
import { withParameters } from '../oauth/query.ts';
import { exampleOrigin, matches } from '../origins/origin-pattern.ts';
import { examplePage } from '../origins/redirect-uri.ts';
import { defaultCallbackPath, doorStartPath, registrationPath } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { isLoopback } from '../urls.ts';
import { httpGet, isNotFoundByRelay } from './answer.ts';
import { type CheckContext, madeUpVerifier } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const addressFindings = findingsOn('addresses');
const baseUrlFindings = findingsOn('base URL');
const callbackPathFindings = findingsOn('callback path');

/** Checks whether browsers on other machines can use the addresses, and whether others can eavesdrop. */
export function checkAddresses(
  { registration: { callbackUri }, frontEnd: { origin }, describe }: CheckContext,
  provider: Provider | undefined,
): Finding[] {
  const relay = new URL(callbackUri);
  // Programs and pages that are not known yet have no origin. The relay's own origin then causes no warning.
  const frontEnd = new URL(exampleOrigin(origin ?? relay.origin));
  const { authorizeUrl, tokenUrl, userUrl } = provider ?? {};
  const endpoints = [authorizeUrl, tokenUrl, userUrl].flatMap((url) => url ?? []);
  const { ok, warning } = addressFindings;
  const warnings: Finding[] = [];
  if (isLoopback(relay) && !isLoopback(frontEnd)) {
    const fix = `set ${describe('baseUrl')} to the address by which browsers reach the relay`;
    warnings.push(warning('the base URL works only on this machine, but the front end is elsewhere', fix));
  }
  if (canBeReadInTransit(relay)) {
    const fix = `put TLS in front of the relay, and set ${describe('baseUrl')} to https://…`;
    warnings.push(warning('the base URL is on plain http: codes and tokens can be read in transit', fix));
  }
  if (canBeReadInTransit(frontEnd)) {
    const fix = `serve it over https, and set ${describe('origin')} to https://…`;
    warnings.push(warning('the front end is on plain http: the token can be read in transit', fix));
  }
  if (endpoints.some((url) => canBeReadInTransit(new URL(url)))) {
    const message = 'the provider is called on plain http: the client secret and tokens can be read in transit';
    warnings.push(warning(message, 'use the provider’s https:// addresses'));
  }
  return warnings.length > 0 ? warnings : [ok('base URL and origin fit together')];
}

function canBeReadInTransit(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url);
}

const startAdvice = 'start the relay, then check again';

/**
 * Starts a login at the base URL as a browser does. The provider's address in the answer reveals the callback URL and
 * client identifier of the relay that answers.
 */
export async function checkBaseUrl(given: CheckContext): Promise<Finding> {
  const { config, registration } = given;
  const frontEnd = [given.frontEnd, ...frontEndsWithBrowsers(config, registration)].find(canStartLogin);
  if (frontEnd === undefined) {
    const why = 'its front ends name no page and no redirect URI with which a login could be started from here';
    return baseUrlFindings.notChecked(why, 'start the relay, and get a token with one of its clients');
  }
  const context = { ...given, frontEnd };
  // The relay's own front end for a resource with browsers has no entry, and its logins start at another path.
  const isConfigured = config.frontEnds.some(({ name }) => name === frontEnd.name);
  const startUrl = isConfigured ? buildStartUrl(context) : config.baseUrl + browserStartPath(context);
  const answer = await httpGet(context, startUrl);
  if ('status' in answer) return isConfigured ? judgeStart(context, answer) : judgeBrowserStart(context, answer);
  const { message, fix, failsForEveryone } = answer;
  return failsForEveryone
    ? baseUrlFindings.problem(message, fix)
    : baseUrlFindings.notChecked(message, `${startAdvice}; otherwise ${fix}`);
}

/** Whether a front end names a page. Machines, and clients that bring redirect URIs of their own, do not. */
const canStartLogin = ({ origins, redirectUris }: FrontEndConfig) => origins.length > 0 || redirectUris.length > 0;

/** The path at which a browser's login at a resource starts. The front end is the relay's own, with one resource. */
const browserStartPath = ({ registration, frontEnd }: CheckContext) =>
  doorStartPath(registration.name, frontEnd.resources[0] ?? '');

/**
 * Judges the answer to the start of a browser's login at a resource. The relay refuses this start, because the browser
 * has no ticket of the resource.
 */
function judgeBrowserStart(context: CheckContext, answer: UpstreamResponse): Finding {
  const isRefusedByRelay = answer.status === 400 && answer.headers['x-request-id'] !== undefined;
  if (isRefusedByRelay) return baseUrlFindings.ok('reaches a relay with logins of browsers');
  return judgeOtherAnswer(context, answer, browserStartPath(context));
}

/**
 * Opens a callback outside `/auth` as a browser does after a login, because a proxy may pass only `/auth` to the relay.
 *
 * @returns no finding if the callback has its default path
 */
export async function checkCallbackPath(context: CheckContext): Promise<Finding[]> {
  const [{ word, callbackPath, callbackUri }] = context.registration.paths;
  if (callbackPath === defaultCallbackPath(word)) return [];
  const { ok, notChecked, problem } = callbackPathFindings;
  const answer = await httpGet(context, callbackUri);
  if (!('status' in answer)) return [notChecked(answer.message, startAdvice)];
  const { status, headers } = answer;
  const correct = `correct ${context.describe('callbackPath')}`;
  if (isNotFoundByRelay(answer)) {
    return [problem('a relay answers there, but no login ends there', `restart the relay, or ${correct}`)];
  }
  if (headers['x-request-id'] !== undefined) return [ok('reaches a relay')];
  if (isGatewayError(status)) return [notChecked(`no relay is ready there (status ${status})`, startAdvice)];
  const { pathname } = new URL(callbackUri);
  const fix = `let the proxy pass that path to the relay, or ${correct}`;
  return [problem(`what answers at ${pathname} is not a relay (status ${status})`, fix)];
}

/** Whether a proxy answered that the server behind it is not running. */
const isGatewayError = (status: number) => status === 502 || status === 503 || status === 504;

/** The URL that starts a login, with the parameters that its front end must send. */
function buildStartUrl({ config, registration, frontEnd }: CheckContext): string {
  const url = config.baseUrl + registrationPath(registration.name);
  const { name: client_id, tokenDelivery, redirectUris } = frontEnd;
  if (tokenDelivery === 'cms') return withParameters(url, { client_id });
  if (tokenDelivery !== 'code') return url;
  const [redirectUri = ''] = redirectUris;
  const [resource] = resourcesOfFrontEnd(config, frontEnd, registration);
  return withParameters(url, {
    response_type: 'code',
    client_id,
    redirect_uri: examplePage(redirectUri),
    code_challenge: deriveCodeChallenge(madeUpVerifier),
    code_challenge_method: 'S256',
    ...(resource && { resource: resource.url }),
  });
}

/** Judges the answer to the start of a login. Only this relay redirects with its own callback and client identifier. */
function judgeStart(context: CheckContext, answer: UpstreamResponse): Finding {
  const { registration, frontEnd, describe } = context;
  const { ok, notChecked, problem } = baseUrlFindings;
  const { location } = answer.headers;
  const correct = `correct ${describe('baseUrl')} or ${describe('pathName')}`;
  const request = URL.parse(location ?? '')?.searchParams;
  const redirectUri = request?.get('redirect_uri');
  if (redirectUri && redirectUri !== registration.callbackUri) {
    return problem('reaches a relay with another callback URL', `restart that relay, or ${correct}`);
  }
  if (redirectUri && request?.get('client_id') !== registration.clientId) {
    const fix = `restart that relay, or correct ${describe('clientId')}`;
    return problem('reaches a relay with another client identifier', fix);
  }
  if (redirectUri) return ok('reaches a relay with this callback URL and client identifier');
  if (isFailedStart(location, frontEnd)) {
    return notChecked('reaches a relay that starts no login now', 'its log says why; correct that, then check again');
  }
  return judgeOtherAnswer(context, answer, registrationPath(registration.name));
}

/** Judges an answer that no start of a login at a relay can give. @param startPath the requested path below the base URL */
function judgeOtherAnswer({ config, describe }: CheckContext, answer: UpstreamResponse, startPath: string): Finding {
  const { notChecked, problem } = baseUrlFindings;
  const { status } = answer;
  if (isGatewayError(status)) return notChecked(`no relay is ready there (status ${status})`, startAdvice);
  const correct = `correct ${describe('baseUrl')} or ${describe('pathName')}`;
  const path = new URL(config.baseUrl + startPath).pathname;
  if (isNotFoundByRelay(answer)) {
    return problem(
      `a relay answers at ${path}, but has no login there`,
      `let the proxy pass the path as it is, or without that of ${describe('baseUrl')}; restart the relay, or ${correct}`,
    );
  }
  const fix = `let the proxy pass that path to the relay, or ${correct}`;
  return problem(`what answers at ${path} is not a relay (status ${status})`, fix);
}

/** Whether a relay redirected to the front end with an error, in the query or the fragment. */
function isFailedStart(location: string | undefined, { origin }: FrontEndConfig): boolean {
  const target = URL.parse(location ?? '');
  if (target === null || !matches(origin, target.origin)) return false;
  const parts = [target.searchParams, new URLSearchParams(target.hash.slice(1))];
  return parts.some((part) => part.has('error') && part.has('request_id'));
}
