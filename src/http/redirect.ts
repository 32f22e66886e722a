import type { Context } from './context.ts';

/**
 * Redirects with an empty body: `ctx.redirect` would write the target into it. A form is not sent on.
 *
 * @see RFC 9700 §4.12
 */
export function redirect(ctx: Context, target: string): void {
  ctx.body = null;
  ctx.status = ctx.method === 'POST' ? 303 : 307;
  ctx.set('Location', target);
}
