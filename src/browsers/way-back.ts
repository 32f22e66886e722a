import { limits } from '../limits.ts';
import { ownPrefix } from '../paths.ts';

/**
 * Where a browser returns to after a login: the path and the query that it asked for. A long query is left out, and a path
 * that is too long is the root.
 *
 * The target follows the origin as text and is parsed with it, so that `//evil.example` and `/\evil.example` are paths here.
 * A path of the relay is the root: a login must not end with a logout.
 *
 * @param target path and query, as a client has sent them
 */
export function wayBackTo(target: string, origin: string): string {
  const [path = ''] = target.split('?', 1);
  const kept = [target, path].find((one) => one.length <= limits.wayBackLength) ?? '/';
  const url = URL.parse(origin + (kept.startsWith('/') ? encodeBytes(kept) : '/'));
  if (url?.origin !== origin || isOwn(url.pathname)) return '/';
  const way = url.href.slice(origin.length);
  return way.length <= limits.wayBackLength ? way : '/';
}

/** Servers may decode a path before they compare it. */
function isOwn(pathname: string): boolean {
  const isPrefix = (path: string) => `${path}/`.startsWith(ownPrefix);
  try {
    return isPrefix(pathname) || isPrefix(decodeURIComponent(pathname));
  } catch {
    return isPrefix(pathname);
  }
}

/** Node.js gives each byte of a header as one character: a byte beyond ASCII stays that byte, percent-encoded. */
const encodeBytes = (text: string) =>
  text.replaceAll(
    /[^\x21\x22\x24-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
