import type { ProviderErrorCode } from './provider-error-codes.ts';

interface Failure {
  readonly status: number;
  /** What happened and what to do, for the caller. It never quotes input. */
  readonly detail: string;
  /** The detail if the code may be spent: a retry of the callback would fail. */
  readonly detailOnceSpent?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every failure of a request, with its answer. */
const failures = {
  code_missing: {
    status: 400,
    detail: 'The callback was opened without an authorization code. Start the login again.',
  },
  code_too_long: {
    status: 400,
    detail: 'The authorization code is too long. Start the login again.',
  },
  code_malformed: {
    status: 400,
    detail: 'The authorization code is not valid percent-encoded text. Start the login again.',
  },
  parameter_repeated: {
    status: 400,
    detail: 'A parameter of the callback was given more than once. Start the login again.',
  },
  front_end_state_unusable: {
    status: 400,
    detail:
      'The state that the front end sent is longer than 512 characters, not text, or given more than once.',
  },
  state_missing: {
    status: 400,
    detail: 'This login was not started here: the callback has no state. Start the login again.',
  },
  state_unknown: {
    status: 400,
    detail: 'This browser did not start this login, or has forgotten it. Start the login again.',
  },
  state_finished: {
    status: 400,
    detail: 'This login is already finished. Start a new one to log in again.',
  },
  state_expired: {
    status: 400,
    detail: 'This login took longer than ten minutes and has expired. Start the login again.',
  },
  state_premature: {
    status: 400,
    detail:
      'This login was started by a machine whose clock is ahead. Start the login again in a minute.',
  },
  state_altered: {
    status: 400,
    detail:
      'The state of this login was altered, or signed by another relay. Start the login again.',
  },
  cookie_invalid: {
    status: 400,
    detail: 'The cookie of this login is damaged or doubled. Start the login again.',
  },
  issuer_mismatch: {
    status: 400,
    detail: 'The answer comes from another provider than the login was sent to. Start it again.',
  },
  issuer_missing: {
    status: 400,
    detail: 'The answer does not say which provider it comes from. Start the login again.',
  },
  callback_framed: {
    status: 400,
    detail: 'A login cannot be finished inside a frame. Open it in a window of its own.',
  },
  access_denied: {
    status: 400,
    detail: 'The login was cancelled or denied at the provider (access_denied). Start it again.',
  },
  authorization_refused: {
    status: 400,
    detail: 'The provider did not authorize the login. Start the login again.',
  },
  code_refused: {
    status: 400,
    detail:
      'Token retrieval failed: the provider refused the authorization code. Start the login again.',
  },
  client_refused: {
    status: 400,
    detail:
      'Token retrieval failed: the provider refused the client identifier or secret of this relay. Only its operator can fix this.',
  },
  redirect_uri_refused: {
    status: 400,
    detail:
      'Token retrieval failed: the provider refused the callback URL of this relay. Only its operator can fix this.',
  },
  token_refused: {
    status: 400,
    detail:
      'Token retrieval failed: the provider refused the token request. Start the login again.',
  },
  token_endpoint_failed: {
    status: 400,
    detail:
      'Token retrieval failed: the provider has a problem of its own. Start the login again in a moment.',
  },
  token_missing: {
    status: 400,
    detail:
      'The access token is empty: the provider answered without a usable one. Start the login again.',
  },
  credentials_missing: {
    status: 401,
    detail: 'No credentials supplied: send the access token in the Authorization header.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  credentials_malformed: {
    status: 401,
    detail: 'The Authorization header has no token: send it as "Bearer", a space, and the token.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  token_malformed: {
    status: 401,
    detail: 'The access token has characters that no token may have. Log in again.',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  },
  token_invalid: {
    status: 401,
    detail: 'The access token is invalid: the provider did not accept it. Log in again.',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  },
  credentials_repeated: {
    status: 400,
    detail: 'The Authorization header was sent more than once: send exactly one.',
  },
  provider_unreachable: {
    status: 502,
    detail: 'The provider could not be reached. Try again in a moment.',
    detailOnceSpent: 'The provider could not be reached. Start the login again.',
  },
  provider_answer_unusable: {
    status: 502,
    detail: 'The provider sent an answer that cannot be used. Try again in a moment.',
    detailOnceSpent: 'The provider sent an answer that cannot be used. Start the login again.',
  },
  user_record_signed: {
    status: 502,
    detail:
      'The provider signs or encrypts its user records, and this relay reads only plain JSON. Only the operators can fix this.',
  },
  provider_undiscovered: {
    status: 503,
    detail: 'The provider has not told its addresses yet. Try again in a few seconds.',
    headers: { 'Retry-After': '5' },
  },
  provider_unsupported: {
    status: 503,
    detail:
      'The provider demands what this relay does not support. Only the operators can fix this.',
    headers: { 'Retry-After': '60' },
  },
  provider_timeout: {
    status: 504,
    detail: 'The provider took too long to answer. Try again in a moment.',
    detailOnceSpent: 'The provider took too long to answer. Start the login again.',
  },
  rate_limited: {
    status: 429,
    detail:
      'Too many requests come from this address. Nothing is lost: try again after a minute at most.',
  },
  too_many_refusals: {
    status: 429,
    detail:
      'The provider refused too many logins from this address. Start the login again in ten minutes.',
  },
  overloaded: {
    status: 503,
    detail: 'Too many logins and lookups are in flight. Try again in a moment.',
    headers: { 'Retry-After': '1' },
  },
  prefetch_refused: {
    status: 503,
    detail: 'A login is not started or finished ahead of time: open the address itself.',
    headers: { 'Retry-After': '1' },
  },
  not_ready: {
    status: 503,
    detail: 'Not ready.',
    headers: { 'Retry-After': '1' },
  },
  // No client receives this one.
  client_gone: {
    status: 503,
    detail: 'The client hung up before it was answered.',
    headers: { 'Retry-After': '1' },
  },
  not_found: { status: 404, detail: 'There is nothing at this address.' },
  method_not_allowed: {
    status: 405,
    detail: 'This address does not take this method: see the Allow header.',
  },
  host_unusable: {
    status: 400,
    detail: 'The request must have one Host header, with a host in it.',
  },
  bad_request: { status: 400, detail: 'The request is not valid HTTP.' },
  request_timeout: { status: 408, detail: 'The request took too long to arrive.' },
  headers_too_large: { status: 431, detail: 'The request line and headers are too large.' },
  internal_error: {
    status: 500,
    detail: 'Something went wrong in the relay. Try again, and quote the X-Request-Id if it stays.',
    detailOnceSpent:
      'Something went wrong in the relay. Start the login again, and quote the X-Request-Id if it stays.',
  },
} as const satisfies Record<string, Failure>;

/** The stable name of a failure, as it appears in logs and as `error` at the front end. */
export type FailureCode = keyof typeof failures;

/** The names of all failures. */
export const failureCodes = Object.keys(failures) as readonly FailureCode[];

/** A failure with a defined answer. The caller may see everything in it. */
export class RelayError extends Error {
  override readonly name = 'RelayError';
  readonly code: FailureCode;
  readonly status: number;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The provider's error code, if it sent one. */
  readonly providerError: ProviderErrorCode | undefined;

  /**
   * @param code decides status, detail and headers
   * @param more.detail a more specific detail; it must not quote input
   * @param more.headers additional headers
   * @param more.providerError the provider's own error code
   */
  constructor(
    code: FailureCode,
    more: {
      detail?: string;
      headers?: Readonly<Record<string, string>>;
      providerError?: ProviderErrorCode | undefined;
    } = {},
  ) {
    super(code);
    const failure: Failure = failures[code];
    this.code = code;
    this.status = failure.status;
    this.detail = more.detail ?? failure.detail;
    this.headers = { ...failure.headers, ...more.headers };
    this.providerError = more.providerError;
  }
  /** The same failure with the detail for a code that may be spent. */
  onceSpent(): RelayError {
    const { detailOnceSpent }: Failure = failures[this.code];
    if (detailOnceSpent === undefined) return this;
    const { code, headers, providerError } = this;
    return new RelayError(code, { detail: detailOnceSpent, headers, providerError });
  }
}
