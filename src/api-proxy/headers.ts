import type { IncomingHttpHeaders } from 'node:http';

type Headers = Readonly<Record<string, string>>;

/** Request headers that reach the API. All others could change method, path, client, user or credentials there. */
const passedToApi: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'client-request-id',
  'consistencylevel',
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
  'graphql-features',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'odata-maxversion',
  'odata-version',
  'prefer',
  'range',
  'return-client-request-id',
  'time-zone',
  'workbook-session-id',
  'x-github-api-version',
  'x-github-next-global-id',
  'x-goog-fieldmask',
  'x-goog-user-project',
  'x-requested-with',
  'x-upload-content-length',
  'x-upload-content-type',
]);

/**
 * Request headers that no configuration passes to the API: those of the relay, of one connection, of browsers and of
 * proxies, credentials, and what stands for another method or path.
 *
 * @see RFC 9110 §7.6.1
 */
const keptFromApi =
  /^(?:authorization|connection|content-length|cookie2?|dpop|expect|host|http2-settings|keep-alive|max-forwards|origin|referer|te|trailer|transfer-encoding|upgrade|user-agent|via|x-http-method|x-login-relay|x-real-ip)$|^(?:access-control|proxy|sec|x-original|x-rewrite)-|client-ip|forwarded|override/;

/**
 * Whether a configuration may pass a request header to the API.
 *
 * @param name in lower case
 */
export function mayReachApi(name: string): boolean {
  return !keptFromApi.test(name);
}

/**
 * The headers of a request to the provider's API: those of the client that are listed, with the access token.
 *
 * @param headers with names in lower case
 * @param more names in lower case that are passed, too
 * @param accessToken visible ASCII
 */
export function apiRequestHeaders(
  headers: IncomingHttpHeaders,
  more: readonly string[],
  accessToken: string,
): Headers {
  return {
    ...selected(headers, (name) => passedToApi.has(name) || more.includes(name)),
    authorization: `Bearer ${accessToken}`,
  };
}

/** Response headers that reach the page. All others could act on the whole origin of the relay, or on proxies before it. */
const passedToPage: ReadonlySet<string> = new Set([
  'accept-ranges',
  'allow',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
  'deprecation',
  'etag',
  'last-modified',
  'link',
  'preference-applied',
  'retry-after',
  'sunset',
]);

/** Headers that APIs invent, such as `X-Total-Count`. */
const inventedByApi = /^(?:x-|ratelimit)/;

/** What starts with `x-`, but is for browsers or for proxies (`X-Accel-Redirect`, `X-Sendfile`). */
const notInvented =
  /^x-(?:accel-|content-|dns-|envoy-|frame-|litespeed-|lighttpd-|login-relay|permitted-|powered-by|proxy|request-id|reproxy-|sendfile|sourcemap|ua-compatible|webkit-|xss-)/;

/** Whether a response header of the provider's API reaches the page. */
function isPassedToPage(name: string): boolean {
  return passedToPage.has(name) || (inventedByApi.test(name) && !notInvented.test(name));
}

/**
 * The headers of a response of the provider's API that reach the page.
 *
 * @param headers with names in lower case
 */
export function pageResponseHeaders(headers: IncomingHttpHeaders): Headers {
  return selected(headers, isPassedToPage);
}

/** The headers that are selected and that `Connection` does not name. Several values of one become a list. */
function selected(
  headers: IncomingHttpHeaders,
  isSelected: (name: string) => boolean,
): Record<string, string> {
  const named = new Set(
    (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()),
  );
  const pairs = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !named.has(name) && isSelected(name),
  );
  return Object.fromEntries(pairs.map(([name, value]) => [name, [value].flat().join(', ')]));
}
