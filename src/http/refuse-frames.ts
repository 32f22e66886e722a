import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

const framed: ReadonlySet<string> = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

/** Refuses requests from frames: the person cannot see which site the page belongs to. */
export function refuseFrames(ctx: Context, next: Next): Promise<void> {
  if (framed.has(ctx.get('Sec-Fetch-Dest'))) throw new RelayError('callback_framed');
  return next();
}
