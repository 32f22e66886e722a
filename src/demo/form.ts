import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';

const maxFormBytes = 4096;

/** Reads a URL-encoded form, or returns undefined if it is longer than that of the login page can be. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  try {
    const body = await getRawBody(request, { limit: maxFormBytes, encoding: 'utf8' });
    return new URLSearchParams(body);
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    if (isTooLarge) return undefined;
    throw error;
  }
}
