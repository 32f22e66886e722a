import type { Next } from 'koa';
import type { Context } from './context.ts';
import { closeLingering } from './linger.ts';

/** Answers a request without reading its body. The connection ends after the response. */
export async function ignoreBody(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.req.complete) return;
  ctx.set('Connection', 'close');
  const { socket } = ctx.req;
  // Node calls destroySoon after the last response of a connection.
  socket.destroySoon = () => closeLingering(socket);
}
