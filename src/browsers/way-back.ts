import { limits } from '../limits.ts';
import { ownPrefix } from '../paths.ts';

/**
 * Where a browser returns to after a login: the path and query of its request. A query that is too long is dropped. A
 * path that is too long becomes the root, and so does a path of the relay, because a login must not end at the logout.
 *
 * Against open redirects, the target is appended to the origin before it is parsed, so that `//evil.example` and
 * `/\evil.example` stay paths.
 *
 * @param target path and query as the client sent them
 */
export function wayBackTo(target: string, origin: string): string {
  const [path = ''] = target.split('?', 1);
  return findWayBack(target, origin) ?? findWayBack(path, origin) ?? '/';
}

/** The way back to the whole target. Undefined if `wayBackTo` would lead elsewhere. */
export function findWayBack(target: string, origin: string): string | undefined {
  if (target.length > limits.wayBackLength || !target.startsWith('/')) return undefined;
  const url = URL.parse(origin + encodeBytes(target));
  if (url?.origin !== origin || isRelayPath(url.pathname)) return undefined;
  const way = url.href.slice(origin.length);
  return way.length <= limits.wayBackLength ? way : undefined;
}

/**
 * Whether a request target is below `/.login-relay/` in its plain spelling. A check about such a target means that the
 * proxy does not send these paths to the relay, so that no login can end. Other spellings do not mean that, because
 * strangers can send them past the rules of a good proxy.
 */
export const isPlainRelayPath = (target: string): boolean => target.startsWith(ownPrefix);

/** Whether a path is below `/.login-relay/`, as it is or decoded: servers may decode a path before they compare it. */
function isRelayPath(pathname: string): boolean {
  const hasPrefix = (path: string) => `${path}/`.startsWith(ownPrefix);
  try {
    return hasPrefix(pathname) || hasPrefix(decodeURIComponent(pathname));
  } catch {
    return hasPrefix(pathname);
  }
}

/** Percent-encodes bytes that a URL cannot have as they are. Node.js gives each byte of a header as one character. */
const encodeBytes = (text: string) =>
  text.replaceAll(
    /[^\x21\x22\x24-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
