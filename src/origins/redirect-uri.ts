import { allowedOrigin, type OriginPattern, patternText } from './origin-pattern.ts';

/** A page that logins may end at. If its origin has a `*`, it is one page of each of those origins. */
export interface RedirectUri {
  readonly origin: OriginPattern;
  /** Path and query, as the URL parser writes them. */
  readonly path: string;
}

/** The redirect URI as text: `https://*.preview.example.com/signed-in`. */
export function redirectUriText({ origin, path }: RedirectUri): string {
  return patternText(origin) + path;
}

/**
 * The registered redirect URI that an address names, after URL parsing. It is built from what is registered
 * and the text in place of its `*`, never from the address: URL parsers repair malformed addresses.
 *
 * @returns undefined if the address names none
 * @see RFC 9700 §4.1.3
 */
export function registeredRedirectUri(
  given: string,
  registered: readonly RedirectUri[],
): string | undefined {
  const url = URL.parse(given);
  if (url === null) return undefined;
  for (const { origin, path } of registered) {
    const allowed = allowedOrigin(origin, url.origin);
    // Compare the whole address: blob: addresses and user names do not show in the origin.
    if (allowed !== undefined && url.href === allowed + path) return allowed + path;
  }
  return undefined;
}
