import type { Next } from 'koa';
import type { Context } from './context.ts';
import { closeLingering } from './linger.ts';

/** Answers a request without its body, which nobody asked for: its connection ends with the answer. */
export async function ignoreBody(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.req.complete) return;
  ctx.set('Connection', 'close');
  const { socket } = ctx.req;
  // This is how Node ends a connection after its last answer.
  socket.destroySoon = () => closeLingering(socket);
}
