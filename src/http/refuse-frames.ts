import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

const framed: ReadonlySet<string> = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

/** Refuses a page that is loaded inside another: the person cannot see whose it is. */
export function refuseFrames(ctx: Context, next: Next): Promise<void> {
  if (framed.has(ctx.get('Sec-Fetch-Dest'))) throw new RelayError('callback_framed');
  return next();
}
