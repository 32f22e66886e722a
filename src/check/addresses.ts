import type { FrontEndConfig } from '../config/config.ts';
import { resourcesOfFrontEnd } from '../config/registration-config.ts';
import { deriveCodeChallenge } from '../login/pkce.ts';
import { withParameters } from '../oauth/query.ts';
import { exampleOf, matches } from '../origins/origin-pattern.ts';
import { examplePage } from '../origins/redirect-uri.ts';
import { defaultCallbackPath, registrationPath } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { isLoopback } from '../urls.ts';
import { get, isNotFoundByRelay } from './answer.ts';
import { type CheckContext, madeUpVerifier } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const addresses = findingsOn('addresses');
const base = findingsOn('base URL');
const callbackPathFindings = findingsOn('callback path');

/** Checks whether browsers on other machines can use the addresses, and whether others can eavesdrop. */
export function checkAddresses(
  { registration: { callbackUri }, frontEnd: { origin }, describe }: CheckContext,
  provider: Provider | undefined,
): Finding[] {
  const relay = new URL(callbackUri);
  // Programs, and pages that are not known yet, have no origin.
  const frontEnd = new URL(exampleOf(origin ?? relay.origin));
  const { authorizeUrl, tokenUrl, userUrl } = provider ?? {};
  const endpoints = [authorizeUrl, tokenUrl, userUrl].flatMap((url) => url ?? []);
  const doubts: readonly (readonly [applies: boolean, message: string, fix: string])[] = [
    [
      isLoopback(relay) && !isLoopback(frontEnd),
      'the base URL works only on this machine, but the front end is elsewhere',
      `set ${describe('baseUrl')} to the address by which browsers reach the relay`,
    ],
    [
      isExposed(relay),
      'the base URL is on plain http: codes and tokens can be read in transit',
      `put TLS in front of the relay, and set ${describe('baseUrl')} to https://…`,
    ],
    [
      isExposed(frontEnd),
      'the front end is on plain http: the token can be read in transit',
      `serve it over https, and set ${describe('origin')} to https://…`,
    ],
    [
      endpoints.some((url) => isExposed(new URL(url))),
      'the provider is called on plain http: the client secret and tokens can be read in transit',
      'use the provider’s https:// addresses',
    ],
  ];
  const found = doubts.filter(([applies]) => applies);
  return found.length > 0
    ? found.map(([, message, fix]) => addresses.warning(message, fix))
    : [addresses.ok('base URL and origin fit together')];
}

function isExposed(url: URL): boolean {
  return url.protocol === 'http:' && !isLoopback(url);
}

const start = 'start the relay, then check again';

/**
 * Starts a login at the base URL as a browser does. The provider's address in the answer reveals the callback URL and
 * client identifier of the relay that answers.
 */
export async function checkBaseUrl(context: CheckContext): Promise<Finding> {
  const { origins, redirectUris } = context.frontEnd;
  if (origins.length === 0 && redirectUris.length === 0) {
    const why = 'the first front end has no redirect URI of its own to start a login with';
    return base.notChecked(why);
  }
  const answer = await get(context, startUrl(context));
  if ('status' in answer) return judgeStart(context, answer);
  const { message, fix, byEveryone } = answer;
  return byEveryone ? base.problem(message, fix) : base.notChecked(message, `${start}; otherwise ${fix}`);
}

/**
 * Opens a callback outside `/auth` as a browser does after a login, because a proxy may pass only `/auth` to the relay.
 *
 * @returns nothing if no such path is configured
 */
export function checkCallbackPath(context: CheckContext): readonly Promise<Finding>[] {
  const [{ word, callbackPath, callbackUri }] = context.registration.paths;
  return callbackPath === defaultCallbackPath(word) ? [] : [askCallback(context, callbackUri)];
}

async function askCallback(context: CheckContext, callbackUri: string): Promise<Finding> {
  const answer = await get(context, callbackUri);
  if (!('status' in answer)) {
    return callbackPathFindings.notChecked(answer.message, start);
  }
  const { status, headers } = answer;
  const restart = `restart the relay, or correct ${context.describe('callbackPath')}`;
  if (isNotFoundByRelay(answer))
    return callbackPathFindings.problem('a relay answers there, but no login ends there', restart);
  if (headers['x-request-id'] !== undefined) return callbackPathFindings.ok('reaches a relay');
  if (status === 502 || status === 503 || status === 504) {
    return callbackPathFindings.notChecked(`no relay is ready there (status ${status})`, start);
  }
  const { pathname } = new URL(callbackUri);
  const fix = `let the proxy pass that path to the relay, or correct ${context.describe('callbackPath')}`;
  return callbackPathFindings.problem(`what answers at ${pathname} is not a relay (status ${status})`, fix);
}

/** An address that starts a login, with the parameters that its front end must send. */
function startUrl({ config, registration, frontEnd }: CheckContext): string {
  const url = `${config.baseUrl}/auth/${registration.name}`;
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

function judgeStart({ config, registration, frontEnd, describe }: CheckContext, answer: UpstreamResponse): Finding {
  const { status, headers } = answer;
  const { location } = headers;
  const correct = `correct ${describe('baseUrl')} or ${describe('pathName')}`;
  const request = URL.parse(location ?? '')?.searchParams;
  const redirectUri = request?.get('redirect_uri');
  if (redirectUri === registration.callbackUri) {
    return request?.get('client_id') === registration.clientId
      ? base.ok('reaches a relay with this callback URL and client identifier')
      : base.problem(
          'reaches a relay with another client identifier',
          `restart that relay, or correct ${describe('clientId')}`,
        );
  }
  if (redirectUri) {
    const fix = `restart that relay, or ${correct}`;
    return base.problem('reaches a relay with another callback URL', fix);
  }
  if (isFailedStart(location, frontEnd)) {
    return base.notChecked(
      'reaches a relay that starts no login now',
      'its log says why; correct that, then check again',
    );
  }
  if (status === 502 || status === 503 || status === 504) {
    return base.notChecked(`no relay is ready there (status ${status})`, start);
  }
  const path = new URL(config.baseUrl + registrationPath(registration.name)).pathname;
  if (isNotFoundByRelay(answer)) {
    return base.problem(
      `a relay answers at ${path}, but has no login there`,
      `let the proxy pass the path as it is, or without that of ${describe('baseUrl')}; restart the relay, or ${correct}`,
    );
  }
  return base.problem(
    `what answers at ${path} is not a relay (status ${status})`,
    `let the proxy pass that path to the relay, or ${correct}`,
  );
}

/** Whether a relay redirected to the front end with an error, in the query or the fragment. */
function isFailedStart(location: string | undefined, { origin }: FrontEndConfig): boolean {
  const target = URL.parse(location ?? '');
  if (target === null || !matches(origin, target.origin)) return false;
  const parts = [target.searchParams, new URLSearchParams(target.hash.slice(1))];
  return parts.some((part) => part.has('error') && part.has('request_id'));
}
