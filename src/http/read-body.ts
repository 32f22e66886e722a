import getRawBody from 'raw-body';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

/** Asks for the body of a request whose client waits for that. @see RFC 9110 §10.1.1 */
export function awaitBody({ req, res }: Pick<Context, 'req' | 'res'>): void {
  // Older curls, and clients for servers, wait before they send.
  const waits = req.headers.expect?.toLowerCase() === '100-continue';
  if (waits && req.httpVersion === '1.1') res.writeContinue();
}

/**
 * Reads the whole body of a request.
 *
 * @param limit bytes
 * @throws {RelayError} `body_too_large`, or `client_gone` if the client hangs up before its end
 */
export async function readBody({ req: request, res }: Context, limit: number): Promise<Buffer> {
  const { 'content-length': length } = request.headers;
  awaitBody({ req: request, res });
  try {
    return await getRawBody(request, { limit, ...(length !== undefined && { length }) });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    throw new RelayError(isTooLarge ? 'body_too_large' : 'client_gone');
  }
}
