import type { Context } from './context.ts';

/** Sends the browser on. The body stays empty: `ctx.redirect` would write the target into it. */
export function redirect(ctx: Context, target: string): void {
  ctx.body = null;
  ctx.status = 307;
  ctx.set('Location', target);
}
