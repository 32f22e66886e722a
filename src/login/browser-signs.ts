import type { IncomingMessage } from 'node:http';
import { hasRelayCookie } from './cookies.ts';

const telling = [
  'sec-fetch-site',
  'sec-fetch-dest',
  'sec-fetch-user',
  'origin',
  'referer',
  'upgrade-insecure-requests',
] as const;

/**
 * Whether a request shows any sign of a browser. A page cannot remove all of these headers from the
 * requests that it triggers. `Sec-Fetch-Mode` alone is no sign: Node's `fetch` sends it too.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function showsSignOfBrowser({ headers }: IncomingMessage): boolean {
  return (
    telling.some((name) => headers[name] !== undefined) ||
    headers['sec-fetch-mode'] === 'navigate' ||
    headers['user-agent']?.includes('Mozilla/') === true ||
    headers.accept?.includes('text/html') === true ||
    hasRelayCookie(headers.cookie)
  );
}
