import { type Failures, withSameAnswer } from './failure.ts';

/**
 * The challenge of the resource replaces the header. The texts begin with the word of the status, because MCP's
 * Inspector only logs in if it reads that word in the body.
 */
const unauthorized = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Bearer' },
  oauthError: 'invalid_token',
} as const;

const badGateway = { status: 502 };

/** Failures of tokens for resources, and of servers that check them. */
export const resourceFailures = {
  ...withSameAnswer(unauthorized, {
    resource_token_missing: 'Unauthorized. Send an access token for this resource in the Authorization header.',
    resource_token_invalid:
      'Unauthorized. The access token is not for this resource, or its login has ended. Log in again.',
    resource_token_expired: 'Unauthorized. The access token has expired. Refresh it.',
    upstream_refused_token:
      "Unauthorized. The server of this resource does not accept the provider's token. Refresh the access token.",
  }),
  ...withSameAnswer(badGateway, {
    upstream_unreachable: 'The server of this resource could not be reached. Try again in a moment.',
    upstream_answer_unusable: 'The server of this resource sent a response that the relay cannot use.',
    upstream_refused_relay:
      'The server of this resource asks for credentials of its own. Only its operator can fix this.',
  }),
  upstream_timeout: { status: 504, detail: 'The server of this resource took too long to answer.' },
  streams_full: {
    status: 503,
    detail: 'Too many requests to resources are in flight. Try again in a moment.',
    headers: { 'Retry-After': '5' },
  },
  websocket_unsupported: {
    status: 426,
    detail:
      'To open a WebSocket, send GET with HTTP/1.1, version 13 and a key, after the previous request was answered.',
    headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
  },
  host_unknown: {
    status: 421,
    detail:
      'This address is at another host of the relay, or this host is not one of them. The log of the relay names the host of the request, and the hosts that the relay knows.',
  },
  resource_token_misplaced:
    'Send one access token, in one Authorization header, as "Bearer", a space, and the token. Never put it into the query.',
  request_unknown:
    'The reverse proxy must say which request it asks about, once each: its method in X-Forwarded-Method, its path and query in X-Forwarded-Uri. And trusted-proxies must list the proxy.',
  login_needed: {
    ...unauthorized,
    detail:
      'You are not logged in here, or no longer, so what you sent has not arrived. Log in in another tab. Then send it again: reload this page.',
  },
  cookie_refused:
    'You have just logged in, but your browser does not show the cookie of this login. Allow cookies for this site, and log in again.',
  cookie_unaccepted:
    'You have just logged in, but the login relay does not accept the cookie of this login. Log in again. If it happens again, only the operator can fix this: all relays at this address need the same key and the same settings.',
  foreign_page_refused: {
    status: 403,
    detail:
      'A page of another site sent this request, so your login here does not count for it. Open this page itself.',
    oauthError: 'access_denied',
  },
  check_ineffective: {
    status: 503,
    detail:
      'You are logged in, but the proxy in front of this page could not use what the login relay answers. Try again in a moment. If it happens again, only the operator can fix this: the buffers of the proxy may be too small.',
    headers: { 'Retry-After': '10' },
  },
  relay_paths_checked: {
    ...unauthorized,
    detail:
      'The proxy in front of this page does not send the addresses below /.login-relay/ to the login relay, so no login can end. Only the operator can fix this.',
  },
  resource_secret_wrong: {
    status: 401,
    headers: { 'WWW-Authenticate': 'Basic realm="introspection"' },
    detail: 'The name of the resource or its secret is wrong.',
    oauthError: 'invalid_client',
  },
  ...withSameAnswer('access_denied', {
    identity_too_long:
      'This person is in too many groups: what the resource should learn does not fit into a token. Only the operator can fix this.',
    provider_token_too_long:
      "The provider's access token is too long to be passed on to the server of this resource. Only the operator can fix this.",
    identity_unknown: 'The provider does not say who the person is. Only the operator can fix this.',
  }),
  identity_unchecked: {
    status: 503,
    detail: 'The provider did not say who the person is. Nothing is lost: try again in a moment.',
    detailOnceSpent: 'The provider did not say who the person is. Start the login again in a moment.',
    headers: { 'Retry-After': '5' },
  },
} as const satisfies Failures;
