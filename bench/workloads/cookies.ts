import { type Answer, headers } from '../load/http-connection.ts';

/** The Cookie header line that a browser sends after these answers; empty where it has no cookie. */
export function cookieHeader(answers: readonly Answer[]): string {
  const jar = new Map<string, string>();
  for (const { head } of answers) {
    for (const cookie of headers(head, 'set-cookie')) {
      const [pair = '', ...attributes] = cookie.split(';');
      const equals = pair.indexOf('=');
      const name = pair.slice(0, equals);
      const dropped = attributes.some((attribute) => /^ *max-age=0$/i.test(attribute));
      if (dropped) jar.delete(name);
      else jar.set(name, pair.slice(equals + 1));
    }
  }
  if (jar.size === 0) return '';
  return `Cookie: ${[...jar].map(([name, value]) => `${name}=${value}`).join('; ')}\r\n`;
}
