import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

/** Refuses prefetches: the person has not asked for a login yet. */
export function refusePrefetch(ctx: Context, next: Next): Promise<void> {
  const purposes = `${ctx.get('Sec-Purpose')} ${ctx.get('Purpose')}`;
  if (/\b(prefetch|prerender|preview)\b/i.test(purposes)) throw new RelayError('prefetch_refused');
  return next();
}

const framed: ReadonlySet<string> = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

/** Refuses requests from frames: the person cannot see which site the page belongs to. */
export function refuseFrames(ctx: Context, next: Next): Promise<void> {
  if (framed.has(ctx.get('Sec-Fetch-Dest'))) throw new RelayError('callback_framed');
  return next();
}
