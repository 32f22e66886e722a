import { limits } from '../limits.ts';
import { ownPrefix } from '../paths.ts';

/**
 * Where a browser returns to after a login: path and query of its request. If the query is too long, it is dropped; if
 * the path is, the root is used.
 *
 * The target is parsed as a text behind the origin, so that `//evil.example` and `/\evil.example` stay paths. The
 * relay's own paths become the root, because a login must not end at the logout.
 *
 * @param target path and query as the client sent them
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

/** Node.js gives header bytes as Latin-1 characters. Bytes beyond ASCII are percent-encoded as they are. */
const encodeBytes = (text: string) =>
  text.replaceAll(
    /[^\x21\x22\x24-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
