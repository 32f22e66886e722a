import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { RelayError } from '../errors.ts';

/**
 * Reads the whole body of a request.
 *
 * @param limit bytes
 * @throws {RelayError} `body_too_large`, or `client_gone` if the client hangs up before its end
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const length = request.headers['content-length'];
  try {
    return await getRawBody(request, { limit, ...(length !== undefined && { length }) });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    throw new RelayError(isTooLarge ? 'body_too_large' : 'client_gone');
  }
}
