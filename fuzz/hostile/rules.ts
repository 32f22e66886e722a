import { failureCodes, RelayError } from '../../src/failures/relay-error.ts';
import type { States } from '../../src/login/state.ts';
import type { RawAnswer } from './answer.ts';
import { frontEndOf, frontEnds, issuer } from './front-ends.ts';
import { granted, hidden } from './markers.ts';

/** The allowed targets of redirects. */
export interface Targets {
  /** The authorization request of each registration, without the parameters of one login. */
  readonly authorizationRequests: readonly string[];
  /** The origin of the provider of each registration. */
  readonly providerOrigin: string;
  /** Opens a state with the keys of the relay. */
  readonly openState: States['open'];
}

const failureStatuses: ReadonlySet<number> = new Set(
  failureCodes.filter((code) => code !== 'internal_error').map((code) => new RelayError(code).status),
);

const once = ['Cache-Control', 'Content-Security-Policy', 'Referrer-Policy', 'X-Content-Type-Options', 'X-Request-Id'];
const permitted: ReadonlySet<string> = new Set(
  [
    ...once,
    'Access-Control-Allow-Credentials',
    'Access-Control-Allow-Headers',
    'Access-Control-Allow-Methods',
    'Access-Control-Allow-Origin',
    'Access-Control-Expose-Headers',
    'Access-Control-Max-Age',
    'Allow',
    'Connection',
    'Content-Length',
    'Content-Type',
    'Date',
    'DPoP-Nonce',
    'Keep-Alive',
    'Location',
    'Retry-After',
    'Set-Cookie',
    'Vary',
    'WWW-Authenticate',
    // The API's.
    'X-Total-Count',
  ].map((name) => name.toLowerCase()),
);

/** The fault of an answer as text; undefined if it has none. */
export function faultOf({ status, headers, body }: RawAnswer, targets: Targets): string | undefined {
  const values = (name: string) =>
    headers.filter(([one]) => one.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  for (const [name] of headers) {
    if (!permitted.has(name.toLowerCase())) return `header ${name}`;
    if (name !== 'Set-Cookie' && values(name).length > 1) return `header ${name} twice`;
  }
  const faultOfCookies = faultOfSetCookies(status, values('Set-Cookie'));
  if (faultOfCookies !== undefined) return faultOfCookies;
  for (const name of once) if (values(name).length !== 1) return `no header ${name}`;
  const text = `${headers.join('\n')}\n${body}`;
  if (text.includes(hidden)) return `a hidden credential in ${text}`;
  const [location] = values('Location');
  if (status === 307) return body === '' ? faultOfTarget(location, targets) : 'redirect with a body';
  if (location !== undefined) return `Location with a ${status}`;
  if (status === 204) return body === '' ? undefined : '204 with a body';
  if (status !== 200 && !failureStatuses.has(status)) return `status ${status}`;
  const [type = ''] = values('Content-Type');
  // Failures, and what is at `/`.
  if (type.startsWith('text/html')) return status === 200 && body === '' ? undefined : faultOfPage(body);
  if (!type.startsWith('application/json')) return `not JSON: ${status} ${type}`;
  // Only the answer to HEAD may lack its announced body. This checks only complete answers.
  return body === '' ? undefined : faultOfBody(status, body);
}

function faultOfTarget(location: string | undefined, targets: Targets): string | undefined {
  const url = URL.parse(location ?? '');
  if (location === undefined || url === null) return `redirect to ${location}`;
  const request = targets.authorizationRequests.find((one) => location.startsWith(`${one}&`));
  const isRight = request
    ? isAuthorizationRequest(url.searchParams, new URL(request).searchParams, targets)
    : isOfFrontEnd(url);
  return isRight ? undefined : `redirect to ${location}`;
}

const added = ['scope', 'state', 'code_challenge', 'code_challenge_method', 'nonce'];

function isAuthorizationRequest(query: URLSearchParams, known: URLSearchParams, { openState }: Targets): boolean {
  const names = [...known.keys(), ...added];
  const words = new Set(query.get('scope')?.split(' '));
  const login = openState(query.get('state') ?? '');
  const frontEnd = frontEndOf(login?.frontEnd);
  const redirectUri = login?.request?.oauth?.redirectUri;
  return (
    hasEachOnce(query, names) &&
    frontEnd !== undefined &&
    words.isSubsetOf(new Set(frontEnd.scope)) &&
    (redirectUri === undefined || frontEnd.pages.includes(redirectUri))
  );
}

/** Whether an address is of a front end, and of that of the login, if its state names it. */
function isOfFrontEnd(url: URL): boolean {
  const fragment = new URLSearchParams(url.hash.slice(1));
  const state = url.searchParams.get('state') ?? fragment.get('state') ?? '';
  const named = frontEndOf(/^(\w+) own&/.exec(state)?.[1]);
  return (named ? [named] : Object.values(frontEnds)).some(({ origin, tokenDelivery, pages }) => {
    if (tokenDelivery === 'session') return url.href.startsWith(`${origin}/`) && !hasToken(url);
    const page = pages.find((one) => /^[?&](code|error)=/.test(url.href.slice(one.length)));
    if (page !== undefined && url.href.startsWith(page)) {
      return isAuthorizationResponse(new URL(page), url);
    }
    const isFragment = tokenDelivery === 'fragment';
    return (
      url.href.startsWith(`${origin}/${isFragment ? '#' : '?'}access_token=`) &&
      hasEachOnce(isFragment ? fragment : url.searchParams, ['access_token', 'state'])
    );
  });
}

function hasToken({ href }: URL): boolean {
  return href.includes(granted) || href.includes('access_token');
}

const loginCookie = /^__Host-Http-lr_login_\w+=[^;]*; (?:.*; )?SameSite=Lax/;
const sessionCookie =
  /^__Host-Http-lr_session_(?:wiki|desk)(?:\.[12])?=([\w.-]*); Max-Age=(\d+); Path=\/; HttpOnly; Secure; SameSite=Strict$/;

/** Only a login, a refresh and a logout set the cookie of a session. */
function faultOfSetCookies(status: number, cookies: readonly string[]): string | undefined {
  for (const cookie of cookies) {
    if (loginCookie.test(cookie)) continue;
    const [isOfSession, value, maxAge] = sessionCookie.exec(cookie) ?? [];
    if (isOfSession === undefined) return `cookie ${cookie}`;
    if ((value === '') !== (maxAge === '0')) return `cookie ${cookie}`;
    if (status !== 200 && (status !== 307 || value === undefined)) return `${status} with ${cookie}`;
  }
  return undefined;
}

const response = ['code', 'state', 'iss', 'error', 'error_description', 'request_id'];

function isAuthorizationResponse(page: URL, { hash, searchParams }: URL) {
  const code = searchParams.get('code');
  return (
    hasEachOnce(searchParams, [...page.searchParams.keys(), ...response]) &&
    searchParams.get('iss') === issuer &&
    hash === '' &&
    searchParams.has('error') === (code === null) &&
    (code === null || /^lr1_[\w-]+$/.test(code))
  );
}

function hasEachOnce(query: URLSearchParams, names: readonly string[]): boolean {
  const given = [...query.keys()];
  return new Set(given).size === given.length && given.every((name) => names.includes(name));
}

function faultOfPage(body: string): string | undefined {
  const isPage = body.startsWith('<!doctype html>') && body.endsWith('</html>\n');
  return isPage && !/<script|javascript:|granted-/i.test(body) ? undefined : `page: ${body}`;
}

const errors = ['detail', 'error,error_description,detail', 'error,detail'];
const ofSession = ['provider,expires_in,renewable', 'provider,renewable'];

function faultOfBody(status: number, body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null) return 'a body that is no object';
    const keys = Object.keys(value).join();
    if (keys.includes('renewable') && !ofSession.includes(keys)) return `session: ${body}`;
    const isError = errors.includes(keys);
    if (isError !== status >= 400) return `body of a ${status}: ${body}`;
    return isError && body.includes(granted) ? `a token in a ${status}: ${body}` : undefined;
  } catch {
    return `body that is no JSON: ${body}`;
  }
}
