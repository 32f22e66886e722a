import { provider, relay } from './page.js';

/**
 * Looks up the user of a token. @throws an Error for the reader; `isRefusal` says that the token is
 * useless
 */
export async function userOf(token) {
  let response;
  let body;
  try {
    response = await fetch(`${relay}/api/user?provider=${provider}`, {
      headers: { Authorization: `Bearer ${token}` },
      cache: 'no-store',
      signal: AbortSignal.timeout(20_000),
    });
    body = await response.json().catch(() => null);
  } catch {
    throw new Error(`The relay at ${relay} did not answer.`);
  }
  const detail = typeof body?.detail === 'string' ? body.detail : `status ${response.status}`;
  if (response.status === 401) {
    const refusal = new Error(`You were logged out. The relay says: ${detail}`);
    throw Object.assign(refusal, { isRefusal: true });
  }
  if (!response.ok) throw new Error(`The lookup failed. The relay says: ${detail}`);
  const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isRecord) throw new Error('The relay’s answer was not a user record.');
  return body;
}
