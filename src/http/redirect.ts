import type { Context } from './context.ts';

/** Redirects with an empty body: `ctx.redirect` would write the target into it. */
export function redirect(ctx: Context, target: string): void {
  ctx.body = null;
  ctx.status = 307;
  ctx.set('Location', target);
}
