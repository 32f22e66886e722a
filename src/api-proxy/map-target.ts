/** The deepest path that can be passed on, because every segment is decoded and compared. */
const mostSegments = 64;

/** A path segment as it is in a URL. @see RFC 3986 §3.3 */
const segmentForm = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*$/i;

/** Visible ASCII without `#`. A URL parser would cut off or drop everything else. */
const queryForm = /^(?:\?[\x21\x22\x24-\x7e]*)?$/;

/**
 * Maps the target of a request to the URL to which it is passed on, at or below `base`. Against path traversal, a path
 * is refused if any server could take it for a path to somewhere else. Encoded slashes, encoded dots, backslashes,
 * empty segments and double encoding are refused, not repaired.
 *
 * @param target path and query of the request, as received
 * @param prefix the path of the relay for `base`
 * @param base has neither query nor fragment. Its path ends with a slash if `prefix` does
 * @returns undefined if the target is refused
 * @see RFC 3986 §6.2.2, CWE-22
 */
export function mapTarget(target: string, prefix: string, base: URL): URL | undefined {
  const [, path = '', query = ''] = /^([^?]*)(.*)$/s.exec(target) ?? [];
  const rest = pathBelow(path, prefix);
  if (rest === undefined || !queryForm.test(query)) return undefined;
  const segments = prefix.endsWith('/') ? rest : rest.slice(1);
  if (!isUnambiguousPath(segments)) return undefined;
  const url = URL.parse(base.origin + base.pathname + rest + query);
  // The parser must not have changed anything, such as a dot segment.
  const isBelow = url?.origin === base.origin && url.pathname === base.pathname + rest;
  return isBelow ? url : undefined;
}

/**
 * Maps the target of a request to an application that has its host to itself. If the application is at the root of its
 * server, no path leads elsewhere. So encoded slashes and empty segments pass, which wikis and editors use.
 *
 * @returns undefined if the target is refused
 */
export function mapApplicationTarget(target: string, base: URL): URL | undefined {
  if (base.pathname !== '/') return mapTarget(target, '/', base);
  const url = /^\/[\x21\x22\x24-\x7e]*$/.test(target) ? URL.parse(base.origin + target) : null;
  return url?.origin === base.origin ? url : undefined;
}

/**
 * Maps the target of a server's redirect to the relay's address for it.
 *
 * @param from the URL that was requested
 * @param base the URL at and below which the relay sends requests
 * @param mounted the public URL of the relay for `base`. Its path ends with a slash if that of `base` does
 * @returns undefined if the relay has no address for it. Then the redirect gets no target, because a response must not
 *   send a page to another host
 */
export function mapLocation(location: string, from: URL, base: URL, mounted: URL): string | undefined {
  const target = URL.parse(location, from);
  if (target?.origin !== base.origin) return undefined;
  const rest = pathBelow(target.pathname, base.pathname);
  if (rest === undefined || target.username !== '' || target.password !== '') return undefined;
  return mounted.href + rest + target.search + target.hash;
}

/**
 * Maps the target of a redirect like `mapLocation`, even if the server names itself with the other scheme. A server
 * behind a proxy can only guess the scheme of its own address: some servers combine `X-Forwarded-Proto` with their own
 * host, others ignore it and redirect a page from https to http. The default ports of the two schemes may belong to
 * different servers, so there only http is corrected.
 *
 * @param base has the right scheme
 */
export function mapGuessedLocation(location: string, from: URL, base: URL, mounted: URL): string | undefined {
  const target = URL.parse(location, from);
  if (target?.host !== base.host) return undefined;
  if (target.protocol === 'http:' || (target.protocol === 'https:' && base.port !== ''))
    target.protocol = base.protocol;
  return mapLocation(target.href, from, base, mounted);
}

/** Returns the part of a path after the prefix. Undefined if the path is neither at nor below the prefix. */
function pathBelow(path: string, prefix: string): string | undefined {
  const rest = path.slice(prefix.length);
  const isBelow = prefix.endsWith('/') || rest === '' || rest.startsWith('/');
  return path.startsWith(prefix) && isBelow ? rest : undefined;
}

/** Whether every server reads the path as the same segments. Only the last segment may be empty. */
function isUnambiguousPath(path: string): boolean {
  const segments = path.split('/', mostSegments + 1);
  if (segments.length > mostSegments) return false;
  return segments.every((segment, index) => {
    const isLast = index === segments.length - 1;
    return segment === '' ? isLast : isUnambiguousSegment(segment);
  });
}

/**
 * Whether every server reads the segment as the same name, however the server decodes it: the segment contains no
 * slash, is no dot segment, and is not encoded twice.
 */
function isUnambiguousSegment(segment: string): boolean {
  if (!segmentForm.test(segment)) return false;
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    // The bytes are not UTF-8, such as an overlong `%c0%af`.
    return false;
  }
  // Some servers take full-width dots and slashes for plain ones.
  const compared = decoded.normalize('NFKC');
  const hasSeparator = /[/\\\p{Cc}]/u.test(compared);
  const isEncodedTwice = /%[0-9a-f]{2}/i.test(compared);
  // Some servers cut off parameters (`..;x`), queries (`..%3fx`) and spaces before they resolve dots.
  const mayBeDotSegment = /^[.\s]*(?:;|$)|^[.\s]+[?#]/.test(compared);
  return !hasSeparator && !isEncodedTwice && !mayBeDotSegment;
}
