import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

/** A host, with its port where it has one. @see RFC 3986 §3.2.2 */
const hostForm = /^([\w.~!$&'()*+,;=%-]+|\[[\w.~!$&'()*+,;=:-]+\])(:\d*)?$/;

/** Refuses an HTTP/1.1 request without exactly one Host header of the right form. @see RFC 9112 §3.2 */
export function requireHost({ req }: Context, next: Next): Promise<void> {
  if (req.httpVersion !== '1.1' || hasOneHost(req)) return next();
  throw new RelayError('host_unusable');
}

function hasOneHost({ headers, rawHeaders }: Context['req']): boolean {
  if (!hostForm.test(headers.host ?? '')) return false;
  const names = rawHeaders.filter((text, index) => index % 2 === 0 && text.length === 4);
  return names.filter((name) => name.toLowerCase() === 'host').length === 1;
}
