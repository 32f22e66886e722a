import type { ParameterizedContext } from 'koa';
import type { FailureCode } from '../errors.ts';
import type { ProviderCall } from '../oauth/provider-client.ts';

/** What the middleware of one request tell each other; the request log is written from it alone. */
interface RequestState {
  requestId: string;
  /** The failure that was answered, or undefined when all went well. */
  failure?: FailureCode;
  /** Where an unexpected error was thrown: stack frames, without its message. */
  stack?: string;
  providerCall?: ProviderCall;
}

/** The context every handler and middleware of the relay gets. */
export type Context = ParameterizedContext<RequestState>;
