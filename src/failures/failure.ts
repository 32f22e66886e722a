/** The value of `error` at a front end. @see RFC 6749 §4.1.2.1 and §5.2, RFC 9449 §5 and §8 */
export type OAuthError =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_dpop_proof'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_token'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'use_dpop_nonce';

/** The answer to a failure. */
export interface Failure {
  readonly status?: number;
  /** Tells the caller what happened and what to do. It never quotes input. */
  readonly detail: string;
  /** The detail once the code may be spent, so that a retry of the callback would fail. */
  readonly detailOnceSpent?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `invalid_request` for the caller's faults, `temporarily_unavailable` for all others. */
  readonly oauthError?: OAuthError;
}

/** Failures by their stable names. A text alone is the detail. */
export type Failures = Readonly<Record<string, Failure | string>>;

/** Creates failures that only differ in their details. @param answer the rest of the answer, or only its OAuth error */
export function withSameAnswer<Name extends string>(
  answer: OAuthError | Omit<Failure, 'detail'>,
  details: Readonly<Record<Name, string>>,
) {
  const common = typeof answer === 'string' ? { oauthError: answer } : answer;
  const failures: Partial<Record<Name, Failure>> = {};
  for (const name in details) failures[name] = { ...common, detail: details[name] };
  return failures as Readonly<Record<Name, Failure>>;
}

/** Creates a failure that may be over in a moment. If a code may be spent, the login has to start again. */
export function temporaryFailure(status: number, event: string) {
  const detail = `${event} Try again in a moment.`;
  return { status, detail, detailOnceSpent: `${event} Start the login again.` };
}
