import { LoginError } from './errors.ts';

/** In milliseconds. The relay's answers never take longer. */
const patience = 30_000;

const noAnswer = 'The login service does not answer. Try again in a moment.';

/** How far the relay's clock is ahead of this device's, in milliseconds. */
export let ahead = 0;

/**
 * Sends a request to the relay, and reads the JSON of the answer.
 *
 * @throws {LoginError} if it is not 2xx, or if there is none
 */
export async function ask(url: string, init: RequestInit) {
  // Kept alive: it goes on if the person leaves the page.
  const signal = AbortSignal.timeout(patience);
  const response = await fetch(url, { ...init, signal, keepalive: true }).catch(failAsNetwork);
  ahead = Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0;
  return await read(response);
}

/** Reads the JSON of an answer. @throws {LoginError} if it is not 2xx */
export async function read(response: Response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const code = response.status === 401 ? 'logged_out' : body.error;
  throw new LoginError(
    code ?? `http_${response.status}`,
    body.detail ?? noAnswer,
    response.headers.get('X-Request-Id'),
  );
}

/** The device or the relay is offline, or the relay does not know this origin. */
export function failAsNetwork(error: Error): never {
  throw error.name === 'AbortError' ? error : new LoginError('network', noAnswer);
}
