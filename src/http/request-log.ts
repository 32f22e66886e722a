import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Context } from './context.ts';

/**
 * Logs one line a request, once the answer is out or the client has gone. The line is built from
 * this list alone: no part of a URL's query, a header or a body can get into it.
 */
export function requestLog(logger: Logger): Middleware {
  return (ctx: Context, next) => {
    const start = performance.now();
    ctx.res.once('close', () => {
      const { requestId, failure, providerCall, stack } = ctx.state;
      const line = {
        requestId,
        method: ctx.method,
        route: ctx['_matchedRoute'] ?? null,
        status: ctx.res.statusCode,
        durationMs: milliseconds(performance.now() - start),
        outcome: failure ?? (ctx.res.writableFinished ? 'ok' : 'client_gone'),
        provider: providerCall && {
          ...providerCall,
          durationMs: milliseconds(providerCall.durationMs),
        },
        stack,
      };
      if (ctx.res.statusCode >= 500) logger.error(line, 'request');
      else logger.info(line, 'request');
    });
    return next();
  };
}

function milliseconds(duration: number): number {
  return Math.round(duration * 100) / 100;
}
