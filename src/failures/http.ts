import { type Failures, withSameAnswer } from './failure.ts';

const tooManyRequests = { status: 429 };
const inASecond = { status: 503, headers: { 'Retry-After': '1' } };

/** Failures of HTTP requests, for any purpose. */
export const httpFailures = {
  ...withSameAnswer(tooManyRequests, {
    rate_limited: 'Too many requests come from this address. Nothing is lost: try again in a minute.',
    too_many_refusals: 'The provider refused too many logins or tokens from this address. Try again in ten minutes.',
  }),
  ...withSameAnswer(inASecond, {
    overloaded: 'Too many logins and lookups are in flight. Try again in a moment.',
    memory_away:
      'The memory that the relays share does not answer, and going on without it could end the login. Nothing is lost: try again in a moment.',
    // `ready` in routes/health.ts adds the reasons. `login-relay health` reads them from the detail.
    not_ready: 'Not ready.',
    // No client receives this failure.
    client_gone: 'The client closed the connection before the response.',
  }),
  pipelined_too_many: {
    ...tooManyRequests,
    detail:
      'Too many requests were sent on one connection without waiting for their answers. Send this one and those after it again.',
  },
  not_found: { status: 404, detail: 'There is nothing at this address.' },
  method_not_allowed: {
    status: 405,
    detail: 'This address does not allow this method. The Allow header lists the methods that it allows.',
  },
  host_unusable: 'The request must have exactly one Host header, which names a host.',
  parameters_too_many: 'The request has more than 100 parameters.',
  bad_request: 'The request is not valid HTTP.',
  tls_unexpected:
    'This port speaks http, and the connection began with TLS. Send http here, or give the relay a certificate (--tls-cert, --tls-key).',
  tls_missing: 'This port speaks https, and the request came without TLS. Send https here.',
  proxy_protocol_unexpected:
    'The connection began with the PROXY protocol, which the relay does not speak. Turn it off in the proxy or balancer: the client address comes in X-Forwarded-For.',
  http2_unexpected:
    'The connection began with HTTP/2, and this port speaks HTTP/1.1. Let the proxy in front use HTTP/1.1 to the relay.',
  chunks_too_small: { status: 413, detail: 'The body comes in too many chunks of a few bytes each.' },
  request_timeout: { status: 408, detail: 'The request took too long to arrive.' },
  headers_too_large: {
    status: 431,
    detail: 'The request line and headers are too large, or there are too many headers.',
  },
  internal_error: {
    status: 500,
    detail: 'Something went wrong in the relay. Try again. If it happens again, report the X-Request-Id.',
    detailOnceSpent:
      'Something went wrong in the relay. Start the login again. If it happens again, report the X-Request-Id.',
    oauthError: 'server_error',
  },
} as const satisfies Failures;
