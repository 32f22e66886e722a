import type { Middleware } from 'koa';
import { redirect } from '../http/redirect.ts';

/** `GET /auth/provider`: sends the browser to the provider. */
export function startLogin(authorizationRequestUrl: string): Middleware {
  return async (ctx) => {
    redirect(ctx, authorizationRequestUrl);
  };
}
