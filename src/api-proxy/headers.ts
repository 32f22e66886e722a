import type { IncomingHttpHeaders } from 'node:http';

type Headers = Readonly<Record<string, string>>;

/** Headers of one connection. @see RFC 9110 §7.6.1 */
const ofConnection = [
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Request headers that are for the relay, or that could change method, path, client or credentials at the API. */
const keptFromApi: ReadonlySet<string> = new Set([
  ...ofConnection,
  'authorization',
  'client-ip',
  // Whoever sends the body frames it.
  'content-length',
  'cookie',
  'cookie2',
  'dpop',
  'forwarded',
  'host',
  'origin',
  'referer',
  'true-client-ip',
  'upgrade-insecure-requests',
  'user-agent',
  'via',
  'x-anonymous-consumer',
  'x-client-cert',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-host',
  'x-http-host-override',
  'x-http-method',
  'x-http-method-override',
  'x-login-relay',
  'x-method-override',
  'x-real-ip',
  'x-request-id',
  'x-userinfo',
]);

/** Families of such headers: of proxies (another path, host, client or user), browsers and CDNs. */
const familiesKeptFromApi = [
  'access-control-',
  'cdn-',
  'cf-',
  'fastly-',
  'fly-',
  'proxy-',
  'remote-',
  'sec-',
  'ssl-client-',
  'tailscale-',
  'x-amzn-',
  'x-apigateway-',
  'x-appengine-',
  'x-arr-',
  'x-auth-request-',
  'x-authenticated-',
  'x-authentik-',
  'x-azure-',
  'x-consumer-',
  'x-credential-',
  'x-endpoint-api-',
  'x-envoy-',
  'x-forwarded',
  'x-goog-authenticated-',
  'x-goog-iap-',
  'x-ms-client-principal',
  'x-ms-token-',
  'x-original-',
  'x-originating-',
  'x-pomerium-',
  'x-proxy',
  'x-remote-',
  'x-rewrite-',
  'x-ssl-',
  'x-vouch-',
  'x-webauth-',
] as const;

/** Servers that pass headers in variables of an environment take `x_a` for `x-a`. */
const usualName = /^[a-z0-9-]+$/;

/** Whether a header must never reach the provider's API. */
function isKeptFromApi(name: string): boolean {
  const isOfFamily = familiesKeptFromApi.some((family) => name.startsWith(family));
  return keptFromApi.has(name) || isOfFamily || !usualName.test(name);
}

/**
 * The headers of a request to the provider's API: those of the client, except what belongs to the relay, to the
 * connection, or to proxies before the relay.
 *
 * @param headers with names in lower case
 * @param accessToken visible ASCII
 */
export function apiRequestHeaders(headers: IncomingHttpHeaders, accessToken: string): Headers {
  return {
    ...selected(headers, (name) => !isKeptFromApi(name)),
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
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || named.has(name) || !isSelected(name)) continue;
    pairs.push([name, Array.isArray(value) ? value.join(', ') : value]);
  }
  return Object.fromEntries(pairs);
}
