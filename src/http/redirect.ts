import type { Context } from './context.ts';

/**
 * Redirects with an empty body. `ctx.redirect` would write the target into it, which may contain a code or token. After
 * a POST, the status is 303, so that the browser does not send the form on.
 *
 * @see RFC 9700 §4.12
 */
export function redirect(ctx: Context, target: string): void {
  ctx.body = null;
  ctx.status = ctx.method === 'POST' ? 303 : 307;
  ctx.set('Location', target);
}
