import { LoginError } from './errors.ts';

/** In milliseconds. The relay's answers never take longer. */
const patience = 30_000;

const noAnswer = 'The login service does not answer.';

/** Sends a request to the relay. @throws {LoginError} if there is no answer */
export function ask(url: string, init: RequestInit): Promise<Response> {
  // With `keepalive`, the request continues if the person leaves the page.
  const signal = AbortSignal.timeout(patience);
  return fetch(url, { ...init, signal, keepalive: true }).catch(failAsNetwork);
}

/** Reads the JSON of an answer. @throws {LoginError} if it is not 2xx, or not whole */
export async function read(response: Response) {
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  throw new LoginError(
    body?.error ?? (response.ok ? 'network' : `http_${response.status}`),
    body?.detail ?? noAnswer,
    response.headers.get('X-Request-Id'),
  );
}

/**
 * Throws `network` for a request that `fetch` could not make: the device or the relay is offline, or the relay does not
 * know this origin. Throws the error as it is if the page itself has aborted the request.
 */
export function failAsNetwork(error: Error): never {
  throw error.name === 'AbortError' ? error : new LoginError('network', noAnswer);
}
