import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { Readiness } from '../http/readiness.ts';

/** `GET /healthz`: the process is alive and answers. */
export const alive: Middleware = async (ctx) => {
  ctx.body = { status: 'alive' };
};

/** `GET /readyz`: whether a balancer should send requests here; if not, the reasons. */
export function ready(readiness: Readiness): Middleware {
  return async (ctx) => {
    const reasons = readiness.reasons();
    if (reasons.length > 0) {
      throw new RelayError('not_ready', { detail: `Not ready: ${reasons.join(', ')}.` });
    }
    const unavailable = readiness.unavailable();
    ctx.body = {
      status: 'ready',
      ...(unavailable.length > 0 && { unavailable }),
      ...(readiness.isMemoryAway() && { memory: 'away' }),
    };
  };
}
