import type { ParameterizedContext } from 'koa';
import type { FailureCode, RelayError } from '../errors.ts';
import type { ProviderErrorCode } from '../provider-error-codes.ts';
import type { ProviderCall } from '../upstream/client.ts';

/** What the middleware of one request tell each other; the request log is written from it alone. */
export interface RequestState {
  requestId: string;
  /** The failure that was answered, or undefined when all went well. */
  failure?: FailureCode;
  /** Where an unexpected error was thrown: stack frames, without its message. */
  stack?: string;
  providerCall?: ProviderCall;
  /** The provider's own error code, from its token response or from the address of the callback. */
  providerError?: ProviderErrorCode | undefined;
  /** Set for a callback that was excused from the state check. */
  excused?: true;
  /** What the front end gave to the start of this login, once the callback has proved it. */
  frontEndState?: string;
  /** Set once an authorization code may be spent: to open the callback again would fail. */
  codeMayBeSpent?: true;
  /** Where a failure is delivered by redirect, in place of a JSON answer. */
  failureTarget?: (failure: RelayError) => string;
}

/** The context every handler and middleware of the relay gets. */
export type Context = ParameterizedContext<RequestState>;
