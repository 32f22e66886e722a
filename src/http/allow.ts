import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';

/** Allows only the given methods. OPTIONS lists them. Any other method is answered with 405. */
export function allow(...methods: string[]): Middleware {
  const headers = { Allow: [...methods, 'OPTIONS'].join(', ') };
  return async (ctx, next) => {
    if (methods.includes(ctx.method)) return next();
    if (ctx.method !== 'OPTIONS') throw new RelayError('method_not_allowed', { headers });
    ctx.set(headers);
    ctx.status = 204;
  };
}
