import type { Method } from 'got';

/** Whether requests of the relay with this method may have a body. */
export const mayHaveBody = (method: Method): boolean => method !== 'GET' && method !== 'HEAD';

/**
 * The headers that frame the body of a request.
 *
 * @param length bytes; 0 without a body; undefined if it is not known yet
 * @see RFC 9112 §6
 */
export function framingHeaders(method: Method, length: number | undefined): Record<string, string> {
  if (!mayHaveBody(method)) return {};
  return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) };
}

/** Whether a response cannot have a body, even if its headers announce one. @see RFC 9112 §6.3 */
export function cannotHaveBody(method: Method, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}
