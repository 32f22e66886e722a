import type { ProviderErrorCode } from '../providers/error-codes.ts';
import type { Failure, Failures, OAuthError } from './failure.ts';
import { frontEndFailures } from './front-end.ts';
import { httpFailures } from './http.ts';
import { loginFailures } from './login.ts';
import { providerFailures } from './provider.ts';
import { resourceFailures } from './resource.ts';
import { userFailures } from './user.ts';

const failures = {
  ...loginFailures,
  ...frontEndFailures,
  ...providerFailures,
  ...userFailures,
  ...resourceFailures,
  ...httpFailures,
} as const;

/** The stable name of a failure, in logs and as `error` at the front end. */
export type FailureCode = keyof typeof failures;

export const failureCodes = Object.keys(failures) as readonly FailureCode[];

/** The failures after which the person or an administrator has to do something at the provider. */
export const refusalsAtProvider = [
  'sso_required',
  'application_unapproved',
  'address_refused',
  'account_restricted',
] as const satisfies readonly FailureCode[];

/** A reason why a field of a person's record does not count. It never contains the value of the field. */
export interface FieldFault {
  /** The path of the field, as in the configuration or the preset. */
  readonly field: string;
  readonly reason: 'missing' | 'shape' | 'unverified' | 'mismatch' | 'expired';
}

/** A failure with a defined answer. The caller may see all of it. */
export class RelayError extends Error {
  override readonly name = 'RelayError';
  readonly code: FailureCode;
  readonly status: number;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauthError: OAuthError;
  readonly providerError: ProviderErrorCode | undefined;
  /** The account that was refused. Only the person's own page shows it. */
  readonly person: string | undefined;
  /** The beginning of an unknown value in the request. Only the log shows it. */
  readonly asked: string | undefined;
  /** The values that the request could have had in place of the unknown one. Only the log shows them. */
  readonly known: readonly string[] | undefined;
  /** The fields of the person's record that do not count. */
  readonly fields: readonly FieldFault[] | undefined;

  /**
   * @param code decides status, detail and headers
   * @param options replace status, OAuth error and detail, which must not quote input, and add headers
   */
  constructor(code: FailureCode, options: FailureOptions = {}) {
    super(code);
    const failure = failureOf(code);
    this.code = code;
    this.status = options.status ?? failure.status ?? 400;
    this.detail = options.detail ?? failure.detail;
    const { retryIn } = options;
    this.headers = {
      ...failure.headers,
      ...options.headers,
      ...(retryIn !== undefined && { 'Retry-After': String(Math.ceil(retryIn / 1000)) }),
    };
    const isCallersFault = this.status < 500 && this.status !== 429;
    const defaultError = isCallersFault ? 'invalid_request' : 'temporarily_unavailable';
    this.oauthError = options.oauthError ?? failure.oauthError ?? defaultError;
    this.providerError = options.providerError;
    this.person = options.person;
    this.asked = options.asked;
    this.known = options.known;
    this.fields = options.fields;
  }

  /**
   * Returns the same failure for a request whose authorization code the provider may have spent (`codeMayBeSpent` in
   * http/context.ts). Its detail no longer says to try again, because a retry would send the same code.
   */
  onceSpent(): RelayError {
    const { detail: usualDetail, detailOnceSpent = usualDetail } = failureOf(this.code);
    // A detail that is not the usual one says more about this failure, so keep it.
    const detail = this.detail === usualDetail ? detailOnceSpent : this.detail;
    return new RelayError(this.code, { ...this, detail });
  }
}

/** The differences of a failure from others with the same code. */
type FailureOptions = {
  /** Milliseconds after which the caller may try again. */
  readonly retryIn?: number | undefined;
} & {
  readonly [Name in
    | 'status'
    | 'detail'
    | 'headers'
    | 'oauthError'
    | 'providerError'
    | 'person'
    | 'asked'
    | 'known'
    | 'fields']?: RelayError[Name] | undefined;
};

/**
 * Abbreviates an unknown value to at most 40 characters. Long words, user names in URLs, and whatever follows a path
 * are removed, because they may be secret.
 */
export function abbreviateInput(input: unknown): string | undefined {
  if (typeof input !== 'string') return undefined;
  const withoutQueryAndUser = input.replace(/[?#].*/s, '…').replace(/\/\/[^/]*@/, '//…@');
  // A client may have sent a code or token of the relay in place of its identifier.
  return withoutQueryAndUser
    .replaceAll(/lr1_[\w-]*/g, '(sealed)')
    .replaceAll(/([\w-]{20})[\w-]+/g, '$1…')
    .slice(0, 40);
}

/** Whether an error is a failure with one of these codes. */
export function isFailure(error: unknown, ...codes: readonly FailureCode[]): error is RelayError {
  return error instanceof RelayError && codes.includes(error.code);
}

/** Returns the result of a function, or undefined if it fails with a {@link RelayError}. */
export function undefinedIfFailed<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof RelayError) return undefined;
    throw error;
  }
}

function failureOf(code: FailureCode): Failure {
  const failure: Failures[string] = failures[code];
  return typeof failure === 'string' ? { detail: failure } : failure;
}
