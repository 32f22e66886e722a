import { allowedOrigin, exampleOf, type OriginPattern } from './origin-pattern.ts';

/**
 * A page or program that logins may end at, as the schema of schemas.ts writes it. If its origin has a `*`, it is one
 * page of each of those origins: `https://*.preview.example.com/signed-in`.
 */
export type RedirectUri = string;

/** Whether a redirect URI belongs to an app by its scheme: `com.example.app:/callback`. @see RFC 8252 §7.1 */
const isOfApp = (redirectUri: RedirectUri): boolean => !/^https?:/.test(redirectUri);

/** The origins of a front end's pages: its own, and those of its redirect URIs, except for the ones that open apps. */
export function originsOf(frontEnd: {
  readonly origins: readonly OriginPattern[];
  readonly redirectUris: readonly RedirectUri[];
}): readonly OriginPattern[] {
  const ofPages = frontEnd.redirectUris.filter((uri) => !isOfApp(uri)).map(originOf);
  return [...new Set([...frontEnd.origins, ...ofPages])];
}

/** The origin of a redirect URI, with its `*` if it has one. Empty for `com.example.app:/callback`. */
export function originOf(redirectUri: RedirectUri): OriginPattern {
  const [origin = ''] = /^[^/]*\/\/[^/]*/.exec(redirectUri) ?? [];
  return origin;
}

const thisMachine = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(:\d+|:\*)?(?=\/)/;

export const isOnThisMachine = (uri: RedirectUri): boolean => thisMachine.test(uri);

/** A program listens at any free port of this machine: so its redirect URI is good with any. @see RFC 8252 §7.3 */
export const withAnyPort = (uri: RedirectUri): RedirectUri => uri.replace(thisMachine, '$1:*');

/** A redirect URI without its `*`: one of the pages that it stands for. */
export function examplePage(redirectUri: RedirectUri): string {
  const origin = originOf(redirectUri);
  return exampleOf(origin) + redirectUri.slice(origin.length);
}

/**
 * The registered redirect URI that an address names, after URL parsing. It is built from what is registered
 * and the text in place of its `*`, never from the address: URL parsers repair malformed addresses.
 *
 * @returns undefined if the address names none
 * @see RFC 9700 §4.1.3
 */
export function findRedirectUri(given: string, registered: readonly RedirectUri[]): string | undefined {
  const url = URL.parse(given);
  if (url === null) return undefined;
  for (const redirectUri of registered) {
    const pattern = originOf(redirectUri);
    // The URL parser gives no origin to an address with the scheme of an app.
    const origin = isOfApp(redirectUri) ? pattern : allowedOrigin(pattern, url.origin);
    // Compare the whole address: blob: addresses and user names do not show in the origin.
    const uri = origin === undefined ? undefined : origin + redirectUri.slice(pattern.length);
    if (uri === url.href) return uri;
  }
  return undefined;
}
