import type { Middleware } from 'koa';
import type { FailureCode } from '../errors.ts';
import type { ProviderCall } from '../oauth/provider-client.ts';
import type { RequestState } from './context.ts';

/**
 * What may be known of a request once it is over: the log and the metrics are made from it alone. No
 * part of a URL's query, a header or a body can get into it.
 */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern; null where no route matches. */
  readonly route: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly outcome: 'ok' | 'client_gone' | FailureCode;
  readonly provider: ProviderCall | undefined;
  /** Where an unexpected error was thrown. */
  readonly stack: string | undefined;
}

/** Tells every observer of each request, once the answer is out or the client has gone. */
export function recordRequests(
  observers: readonly ((record: RequestRecord) => void)[],
): Middleware<RequestState> {
  return (ctx, next) => {
    const start = performance.now();
    ctx.res.once('close', () => {
      const { requestId, failure, providerCall, stack } = ctx.state;
      const route: unknown = ctx['_matchedRoute'];
      const record: RequestRecord = {
        requestId,
        method: ctx.method,
        route: typeof route === 'string' ? route : null,
        status: ctx.res.statusCode,
        durationMs: performance.now() - start,
        outcome: failure ?? (ctx.res.writableFinished ? 'ok' : 'client_gone'),
        provider: providerCall,
        stack,
      };
      for (const observe of observers) observe(record);
    });
    return next();
  };
}
