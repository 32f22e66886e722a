import type { Socket } from 'node:net';
import type { Next } from 'koa';
import getRawBody from 'raw-body';
import { RelayError } from '../failures/relay-error.ts';
import { type Limits, limits } from '../limits.ts';
import type { Context } from './context.ts';

/** Asks for the body of a request whose caller waits for that. @see RFC 9110 §10.1.1 */
export function awaitBody({ req, res }: Pick<Context, 'req' | 'res'>): void {
  // Older curls, and the HTTP libraries of servers, wait before they send.
  const waits = req.headers.expect?.toLowerCase() === '100-continue';
  if (waits && req.httpVersion === '1.1') res.writeContinue();
}

/**
 * Reads the whole body of a request.
 *
 * @throws {RelayError} `body_too_large`, `request_timeout`, or `client_gone` if the caller hangs up before its end
 */
export async function readBody(
  { req, res }: Pick<Context, 'req' | 'res'>,
  most: Pick<Limits, 'requestBodySize' | 'requestBodyTime'> = limits,
): Promise<Buffer> {
  const { requestBodySize: limit, requestBodyTime: time } = most;
  const { 'content-length': length } = req.headers;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new RelayError('request_timeout')), time);
  awaitBody({ req, res });
  try {
    const body = getRawBody(req, { limit, ...(length !== undefined && { length }) });
    return await Promise.race([body, late]);
  } catch (error) {
    if (error instanceof RelayError) throw error;
    const isTooLarge = error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    throw new RelayError(isTooLarge ? 'body_too_large' : 'client_gone');
  } finally {
    clearTimeout(timer);
  }
}

/** Closes the connection after the response if a part of the request's body was not read. */
export async function closeIfUnread(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.req.complete) return;
  ctx.set('Connection', 'close');
  const { socket } = ctx.req;
  // Node calls destroySoon after the last response of a connection.
  socket.destroySoon = () => closeLingering(socket);
}

/**
 * Closes a connection whose peer may still be sending. The peer gets the FIN at once, and time to
 * read the response before the reset. @see RFC 9112 §9.6
 */
export function closeLingering(socket: Socket): void {
  socket.end();
  socket.pause();
  setTimeout(() => socket.destroy(), limits.lingerTime).unref();
}
