import type { ProviderErrorCode } from '../providers/refusals.ts';
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

/** The failures after which somebody first has to do something at the provider. */
export const refusalsAtProvider = [
  'sso_required',
  'application_unapproved',
  'address_refused',
  'account_restricted',
] as const satisfies readonly FailureCode[];

/** Why a field of a person's record does not count. It never contains a value of the field. */
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
  /** The fields of the person's record that do not count. */
  readonly fields: readonly FieldFault[] | undefined;

  /**
   * @param code decides status, detail and headers
   * @param more replaces status, OAuth error and detail, which must not quote input, and adds headers
   */
  constructor(code: FailureCode, more: More = {}) {
    super(code);
    const failure = failureOf(code);
    this.code = code;
    this.status = more.status ?? failure.status ?? 400;
    this.detail = more.detail ?? failure.detail;
    const { retryIn } = more;
    this.headers = {
      ...failure.headers,
      ...more.headers,
      ...(retryIn !== undefined && { 'Retry-After': String(Math.ceil(retryIn / 1000)) }),
    };
    const isCallersFault = this.status < 500 && this.status !== 429;
    const byStatus = isCallersFault ? 'invalid_request' : 'temporarily_unavailable';
    this.oauthError = more.oauthError ?? failure.oauthError ?? byStatus;
    this.providerError = more.providerError;
    this.person = more.person;
    this.asked = more.asked;
    this.fields = more.fields;
  }

  /** The same failure with the detail for a code that may be spent. */
  onceSpent(): RelayError {
    const { detail: usual, detailOnceSpent = usual } = failureOf(this.code);
    // A detail of this one failure says more than the usual one of its code.
    const detail = this.detail === usual ? detailOnceSpent : this.detail;
    return new RelayError(this.code, { ...this, detail });
  }
}

/** The differences of one failure from others with its code. */
type More = {
  /** Milliseconds after which the caller may try again. */
  readonly retryIn?: number | undefined;
} & {
  readonly [Name in 'status' | 'detail' | 'headers' | 'oauthError' | 'providerError' | 'person' | 'asked' | 'fields']?:
    | RelayError[Name]
    | undefined;
};

/**
 * At most 40 characters of an unknown value. Long words, and whatever follows a path, are removed because they may be
 * secret.
 */
export function beginningOf(asked: unknown): string | undefined {
  if (typeof asked !== 'string') return undefined;
  const visible = asked.replace(/[?#].*/s, '…').replace(/\/\/[^/]*@/, '//…@');
  // A client may have sent a code or token of the relay instead of its identifier.
  return visible
    .replaceAll(/lr1_[\w-]*/g, '(sealed)')
    .replaceAll(/([\w-]{20})[\w-]+/g, '$1…')
    .slice(0, 40);
}

export function isFailure(error: unknown, ...codes: readonly FailureCode[]): error is RelayError {
  return error instanceof RelayError && codes.includes(error.code);
}

/** The result of a function; undefined if it fails with a {@link RelayError}. */
export function unlessFailed<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof RelayError) return undefined;
    throw error;
  }
}

function failureOf(code: FailureCode): Failure {
  const failure: Failures[string] = failures[code];
  return typeof failure === 'string' ? { detail: failure } : failure;
}
