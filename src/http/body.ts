import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Next } from 'koa';
import getRawBody from 'raw-body';
import { RelayError } from '../failures/relay-error.ts';
import { type Limits, limits } from '../limits.ts';
import type { Context } from './context.ts';

/**
 * Sends `100 Continue` to a caller that waits for it before it sends the body. Node.js leaves that to the relay,
 * because `server.ts` listens to `checkContinue`. @see RFC 9110 §10.1.1
 */
export function sendContinue({ req, res }: Pick<Context, 'req' | 'res'>): void {
  const isExpected = req.headers.expect?.toLowerCase() === '100-continue';
  if (isExpected && req.httpVersion === '1.1') res.writeContinue();
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
  // A small body has mostly arrived together with its head. Then neither a timer nor listeners are needed.
  if (req.complete && req.readable) return takeArrived(req, limit);
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new RelayError('request_timeout')), time);
  sendContinue({ req, res });
  try {
    const body = getRawBody(req, { limit, ...(length !== undefined && { length }) });
    return await Promise.race([body, timeout]);
  } catch (error) {
    if (error instanceof RelayError) throw error;
    const isTooLarge = error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    throw new RelayError(isTooLarge ? 'body_too_large' : 'client_gone');
  } finally {
    clearTimeout(timer);
  }
}

/** Takes the body of a request of which every byte has arrived. @throws {RelayError} `body_too_large` */
function takeArrived(req: IncomingMessage, limit: number): Buffer {
  const chunks: Buffer[] = [];
  for (let chunk = req.read(); chunk !== null; chunk = req.read()) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (body.length > limit) throw new RelayError('body_too_large');
  return body;
}

/** Closes the connection after the response if the body of the request was not read to its end. */
export async function closeIfBodyUnread(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.req.complete) return;
  ctx.set('Connection', 'close');
  const { socket } = ctx.req;
  // Node.js calls this after the last response of a connection.
  socket.destroySoon = () => closeLingering(socket);
}

/**
 * Closes a connection whose peer may still be sending. It sends a FIN at once, and leaves the peer time to read the
 * response before the reset.
 *
 * @see RFC 9112 §9.6
 */
export function closeLingering(socket: Socket): void {
  socket.end();
  socket.pause();
  setTimeout(() => socket.destroy(), limits.lingerTime).unref();
}
