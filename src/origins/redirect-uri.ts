import { allowedOrigin, exampleOrigin, type OriginPattern } from './origin-pattern.ts';

/**
 * The address of a page or program at which logins may end, in the form of origin-schemas.ts. If its origin has a `*`,
 * it stands for one page at each of several origins: `https://*.preview.example.com/signed-in`.
 */
export type RedirectUri = string;

/** Whether the scheme of a redirect URI belongs to an app: `com.example.app:/callback`. @see RFC 8252 §7.1 */
const opensApp = (redirectUri: RedirectUri): boolean => !/^https?:/.test(redirectUri);

/** The origins of a front end's pages, from its `origins` and its redirect URIs, except those that open apps. */
export function pageOriginsOf(frontEnd: {
  readonly origins: readonly OriginPattern[];
  readonly redirectUris: readonly RedirectUri[];
}): readonly OriginPattern[] {
  const originsOfPages = frontEnd.redirectUris.filter((uri) => !opensApp(uri)).map(originOf);
  return [...new Set([...frontEnd.origins, ...originsOfPages])];
}

/** The origin of a redirect URI, with its `*` if it has one. Empty for `com.example.app:/callback`. */
export function originOf(redirectUri: RedirectUri): OriginPattern {
  const [origin = ''] = /^[^/]*\/\/[^/]*/.exec(redirectUri) ?? [];
  return origin;
}

const thisMachine = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(:\d+|:\*)?(?=\/)/;

/** Whether a redirect URI is at a loopback address of this machine, with plain http. */
export const isOnThisMachine = (uri: RedirectUri): boolean => thisMachine.test(uri);

/**
 * Makes a redirect URI on this machine valid with any port, because a program listens on any free port.
 *
 * @see RFC 8252 §7.3
 */
export const withAnyPort = (uri: RedirectUri): RedirectUri => uri.replace(thisMachine, '$1:*');

/** Returns a page that a redirect URI stands for. */
export function examplePage(redirectUri: RedirectUri): string {
  const origin = originOf(redirectUri);
  return exampleOrigin(origin) + redirectUri.slice(origin.length);
}

/**
 * Finds the registered redirect URI that an address names, after URL parsing. The result is built from the registered
 * URI and the text that replaces its `*`, never from the address, because URL parsers repair malformed addresses.
 *
 * @returns undefined if there is none
 * @see RFC 9700 §4.1.3
 */
export function findRedirectUri(given: string, registered: readonly RedirectUri[]): string | undefined {
  const url = URL.parse(given);
  if (url === null) return undefined;
  for (const redirectUri of registered) {
    const pattern = originOf(redirectUri);
    // The URL parser gives no origin to an address with an app's scheme.
    const origin = opensApp(redirectUri) ? pattern : allowedOrigin(pattern, url.origin);
    // Compare the whole address, because blob: addresses and user names do not show in the origin.
    const uri = origin === undefined ? undefined : origin + redirectUri.slice(pattern.length);
    if (uri === url.href) return uri;
  }
  return undefined;
}
