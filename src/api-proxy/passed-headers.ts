import type { IncomingHttpHeaders } from 'node:http';
import { claimsIdentity } from './claimed-identities.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * The request headers that reach the API: those of HTTP, Microsoft Graph, GitHub, and Google. Any other header could
 * change method, path, client, user or credentials there.
 */
const passedToApi = splitNames(
  'accept accept-encoding accept-language content-encoding content-language content-range content-type',
  'idempotency-key if-match if-modified-since if-none-match if-range if-unmodified-since prefer range x-requested-with',
  'client-request-id consistencylevel odata-maxversion odata-version return-client-request-id workbook-session-id',
  'graphql-features time-zone x-github-api-version x-github-next-global-id',
  'x-goog-fieldmask x-goog-user-project x-upload-content-length x-upload-content-type',
);

/**
 * The request headers that never pass: credentials, headers of the relay, of one connection, of browsers and of
 * proxies, and headers that override method or path.
 *
 * @see RFC 9110 §7.6.1
 */
const keptBack =
  /^(?:authorization|connection|content-length|cookie2?|dpop|expect|host|http2-settings|keep-alive|max-forwards|origin|referer|te|trailer|transfer-encoding|upgrade|x-http-method|x-login-relay|x-real-ip)$|^(?:proxy|sec|x-original|x-rewrite)-|client-ip|forwarded|override/;
/** Headers that identify the caller, and headers of browsers. */
const keptFromApi = /^(?:user-agent|via)$|^access-control-/;
/** Headers that the relay sets itself, and headers of hosting companies about the client address. */
const keptFromResource = /^x-request-id$|-connecting-ip|^x-(?:appengine|azure|envoy)-/;

/** Headers of one connection and of proxies, which never pass to an application that has its host to itself. */
const keptFromApplication =
  /^(?:connection|content-length|cookie2?|dpop|expect|host|http2-settings|keep-alive|max-forwards|te|trailer|transfer-encoding|upgrade|x-login-relay|x-real-ip)$|^(?:proxy|x-original|x-rewrite)-|client-ip|forwarded/;

/** Replaces every other character with a hyphen, because many servers read `x_real_ip` as `x-real-ip`. */
const asServersRead = (name: string) => name.replace(/[^a-z0-9]/g, '-');

/** Whether a configuration may pass a request header to the API. @param name in lower case */
export function mayReachApi(name: string): boolean {
  const read = asServersRead(name);
  return !keptBack.test(read) && !keptFromApi.test(read);
}

/**
 * Selects the headers of a program's request to a server behind the gateway: all except those that the relay sets or is
 * responsible for, because new protocols have new headers. For browsers, see `applicationRequestHeaders`.
 *
 * @param headers with names in lower case
 */
export function resourceRequestHeaders(headers: IncomingHttpHeaders): Headers {
  return selectHeaders(headers, (name) => {
    const read = asServersRead(name);
    return !keptBack.test(read) && !keptFromResource.test(read) && !claimsIdentity(read);
  });
}

/**
 * Selects the headers of a browser's request to an application behind the gateway: all except headers of one
 * connection, of proxies, and those that the relay sets. `Origin`, `Referer`, `Sec-…` and the application's own
 * credentials pass.
 *
 * @param headers with names in lower case
 */
export function applicationRequestHeaders(headers: IncomingHttpHeaders): Headers {
  return selectHeaders(headers, (name) => {
    const read = asServersRead(name);
    return !keptFromApplication.test(read) && !keptFromResource.test(read) && !claimsIdentity(read);
  });
}

/**
 * Selects the permitted headers of a request to the provider's API, and adds the access token.
 *
 * @param headers with names in lower case
 * @param more further permitted names, in lower case
 * @param accessToken visible ASCII
 */
export function apiRequestHeaders(headers: IncomingHttpHeaders, more: readonly string[], accessToken: string): Headers {
  return {
    ...selectHeaders(headers, (name) => passedToApi.has(name) || more.includes(name)),
    authorization: `Bearer ${accessToken}`,
  };
}

/**
 * The response headers that reach the page. Any other could act on the relay's whole origin, or on proxies in front.
 */
const passedToPage = splitNames(
  'accept-ranges content-disposition content-encoding content-language content-length content-range content-type',
  'allow deprecation etag last-modified link preference-applied retry-after sunset',
);

function splitNames(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((names) => names.split(' ')));
}

/** Headers of an API's own, such as `X-Total-Count`. */
const customHeader = /^(?:x-|ratelimit)/;

/** Headers with `x-` that never pass, because browsers or proxies act on them (`X-Accel-Redirect`, `X-Sendfile`). */
const reservedCustomHeader =
  /^x-(?:accel-|archive-|content-|dns-|envoy-|frame-|litespeed-|lighttpd-|login-relay|permitted-|powered-by|proxy|request-id|reproxy-|sendfile|sourcemap|ua-compatible|webkit-|xss-)/;

/** Response headers that act on the relay's whole origin or on one connection, or let other origins read. */
const keptFromClient =
  /^(?:accept-ch|activate-storage-access|alt-svc|clear-site-data|connection|content-security-policy.*|critical-ch|edge-control|expect-ct|keep-alive|location|nel|observe-browsing-topics|origin-agent-cluster|public-key-pins.*|refresh|report-to|reporting-endpoints|service-worker-allowed|set-cookie2?|set-login|shared-storage-write|speculation-rules|strict-transport-security|te|trailer|transfer-encoding|upgrade|use-as-dictionary|surrogate-control|www-authenticate)$|^(?:access-control|ad-auction|attribution-reporting|proxy|sec|secure-session)-|cdn-cache-control$|^x-(?:accel-|archive-|envoy-|litespeed-|lighttpd-|login-relay|proxy|request-id|reproxy-|sendfile)/;

/** Selects the headers of a response from behind the gateway for its client. @param headers with names in lower case */
export function clientResponseHeaders(headers: IncomingHttpHeaders): Headers {
  const passed = selectHeaders(headers, (name) => forbidsBuffering(name, headers) || !keptFromClient.test(name));
  const { 'cache-control': control, vary } = passed;
  return {
    ...passed,
    ...(control !== undefined && { 'cache-control': makePrivate(control) }),
    // Otherwise, a browser's cache would show a response to the person who logs in next, because a logout with tokens
    // does not empty it.
    vary: vary === undefined ? 'Authorization' : `${vary}, Authorization`,
  };
}

/** Response headers of one connection, and those that act on caches and servers between the relay and the browser. */
const keptFromBrowser =
  /^(?:alt-svc|connection|edge-control|keep-alive|set-cookie2?|surrogate-control|te|trailer|transfer-encoding|upgrade)$|^proxy-|cdn-cache-control$|^x-(?:accel-|archive-|envoy-|litespeed-|lighttpd-|login-relay|proxy|request-id|reproxy-|sendfile)/;

/**
 * Selects the headers of a response of an application that has its host to itself. All headers that act in the browser
 * pass. The response is private, even if the application does not say so, because it is for one person. It needs no
 * `Vary: Cookie`: at a logout, and when another person logs in, the relay empties the browser's cache for this host
 * (`Clear-Site-Data` in `door-session.ts` and `door-callback.ts`).
 *
 * @param headers with names in lower case
 * @param isRelayCookie whether a `Set-Cookie` header sets a cookie of the relay
 */
export function browserResponseHeaders(headers: IncomingHttpHeaders, isRelayCookie: (cookie: string) => boolean) {
  const passed = selectHeaders(headers, (name) => forbidsBuffering(name, headers) || !keptFromBrowser.test(name));
  const cookies = (headers['set-cookie'] ?? []).filter((cookie) => !isRelayCookie(cookie));
  return {
    ...passed,
    'cache-control': makePrivate(passed['cache-control'] ?? ''),
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
  };
}

/** Whether a header keeps nginx in front from buffering events. It is the only `X-Accel-…` that passes. */
function forbidsBuffering(name: string, headers: IncomingHttpHeaders): boolean {
  return name === 'x-accel-buffering' && headers[name] === 'no';
}

/**
 * Replaces cache directives that share a response by `private`. A server may not know that each response is for one
 * person.
 */
function makePrivate(control: string): string {
  const directives = control.split(',').map((directive) => directive.trim());
  const kept = directives.filter((directive) => !/^(?:|public|private|s-maxage=.*)$/i.test(directive));
  return ['private', ...kept].join(', ');
}

/** Selects the headers of an API's response for the page. @param headers with names in lower case */
export function pageResponseHeaders(headers: IncomingHttpHeaders): Headers {
  const isCustom = (name: string) => customHeader.test(name) && !reservedCustomHeader.test(name);
  return selectHeaders(headers, (name) => passedToPage.has(name) || isCustom(name));
}

/** Reads from `Connection` the names of headers of this connection alone, and `close`, `keep-alive` and `upgrade`. */
export function connectionOptions({ connection = '' }: IncomingHttpHeaders): ReadonlySet<string> {
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

/** Selects headers, except those that `Connection` names. The values of a repeated header are joined by commas. */
function selectHeaders(headers: IncomingHttpHeaders, isSelected: (name: string) => boolean) {
  const namedByConnection = connectionOptions(headers);
  const selected: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || namedByConnection.has(name) || !isSelected(name)) continue;
    selected[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return selected;
}
