import type { IncomingMessage } from 'node:http';
import { hasTransactionCookie } from './cookies.ts';

const telling = [
  'sec-fetch-site',
  'sec-fetch-dest',
  'sec-fetch-user',
  'origin',
  'referer',
  'upgrade-insecure-requests',
] as const;

/**
 * Whether a request shows any sign that a browser made it. No page can keep all of them from the
 * requests it makes a browser send. `Sec-Fetch-Mode` alone is no sign: Node's `fetch` sends it.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function showsSignOfBrowser({ headers }: IncomingMessage): boolean {
  return (
    telling.some((name) => headers[name] !== undefined) ||
    headers['sec-fetch-mode'] === 'navigate' ||
    headers['user-agent']?.includes('Mozilla/') === true ||
    headers.accept?.includes('text/html') === true ||
    hasTransactionCookie(headers.cookie)
  );
}
