import getRawBody from 'raw-body';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

/**
 * Reads the whole body of a request.
 *
 * @param limit bytes
 * @throws {RelayError} `body_too_large`, or `client_gone` if the client hangs up before its end
 */
export async function readBody({ req: request, res }: Context, limit: number): Promise<Buffer> {
  const { 'content-length': length, expect } = request.headers;
  // Older curls, and clients for servers, wait for this before they send. @see RFC 9110 §10.1.1
  if (expect?.toLowerCase() === '100-continue' && request.httpVersion === '1.1') {
    res.writeContinue();
  }
  try {
    return await getRawBody(request, { limit, ...(length !== undefined && { length }) });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    throw new RelayError(isTooLarge ? 'body_too_large' : 'client_gone');
  }
}
