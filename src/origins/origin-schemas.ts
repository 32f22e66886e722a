import * as v from 'valibot';
import { httpUrl, isLoopback, whyQueryIsTaken } from '../urls.ts';
import { isAppScheme, readAppScheme } from './app-schemes.ts';
import type { OriginPattern } from './origin-pattern.ts';
import { ownsAllSubdomains } from './owned-domains.ts';
import { examplePage, isOnThisMachine, originOf, type RedirectUri, withAnyPort } from './redirect-uri.ts';

// Messages complete the sentence "--flag (VARIABLE) …" and never quote the value.

/**
 * A `*` as the port of this machine. `httpUrl` refuses it, so `pageUri` removes it first, and restores it afterwards.
 */
const anyPort = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\*(?=[/?]|$)/i;
/** No `*` in scheme, host and port, or a single `*` as the first label of the host. */
const noStarOrFirstLabel = /^[^/]*\/\/(\*\.)?[^/?#*]*([/?#]|$)/;
/** A host name without a final dot. @see RFC 1034 §3.5 */
const hostName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** A page of a front end: a URL as in `httpUrl`, or with a `*` that stands for several origins. */
const pageUri = v.pipe(
  v.string(),
  v.check(
    (text) => !text.includes('*') || noStarOrFirstLabel.test(text.replace(anyPort, '$1')),
    'must have * as the whole first label of the host name (https://*.preview.example.com) or as the port of this machine (http://localhost:*), and nowhere else in its origin',
  ),
  v.rawTransform(({ dataset, addIssue, NEVER }): RedirectUri => {
    const text = dataset.value.replace(anyPort, '$1');
    const port = text === dataset.value ? '' : ':*';
    const parsed = v.safeParse(httpUrl, text, { abortPipeEarly: true });
    const fault = parsed.success ? findStarFault(parsed.output) : parsed.issues[0].message;
    if (!parsed.success || fault !== undefined) {
      addIssue({ message: fault });
      return NEVER;
    }
    const { origin, href } = parsed.output;
    return origin + port + href.slice(origin.length);
  }),
);

/**
 * An address that opens an app: `com.example.app:/callback`, `vscode://publisher.extension/callback`.
 *
 * @see RFC 3986 §2
 */
const appUri = v.pipe(
  v.string(),
  v.regex(/^[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/, 'must be ASCII, without spaces'),
  v.transform((text) => URL.parse(text)),
  v.check(
    (url) => url !== null && readAppScheme(url.href) !== undefined && !hasUserOrFragment(url),
    'must be a URL without user name and fragment',
  ),
  v.transform((url): RedirectUri => url?.href ?? ''),
);

const hasUserOrFragment = ({ username, password, href }: URL) => username + password !== '' || href.includes('#');

export const maxRedirectUriLength = 512;

/** A redirect URI of a front end: a page, or an address that opens an app. */
export const redirectUri = v.pipe(
  v.string(),
  v.maxLength(maxRedirectUriLength, `must have at most ${maxRedirectUriLength} characters`),
  v.check(
    (text) => /^https?:/i.test(text) || readAppScheme(text) !== undefined,
    'must start with https:// (or http://), or with a scheme of an app and a slash (com.example.app:/callback), which no browser or system acts on itself',
  ),
  v.lazy((text) => (/^https?:/i.test(`${text}`) ? pageUri : appUri)),
);

/** The parameters that an authorization response adds to a redirect URI. @see RFC 9207 §2 */
const responseParameters = ['code', 'state', 'iss', 'error', 'error_description', 'request_id'];

/** Finds the fault in the query of a redirect URI. Undefined if there is none. */
export const findQueryFault = (uri: RedirectUri): string | undefined =>
  whyQueryIsTaken(new URL(examplePage(uri)), responseParameters);

/**
 * A redirect URI of a native client: an https page, an address that opens an app, or any port of this machine.
 *
 * @see RFC 8252 §7
 */
export const nativeRedirectUri = v.pipe(
  redirectUri,
  v.check(
    (uri) => !uri.startsWith('http:') || isOnThisMachine(uri),
    'must start with https://, unless its host is 127.0.0.1, [::1] or localhost',
  ),
  v.check((uri) => !uri.startsWith('https://*'), 'must not have a *'),
  v.check(
    (uri) => findQueryFault(uri) === undefined,
    ({ input }) => findQueryFault(input) ?? '',
  ),
  v.transform(withAnyPort),
);

/** Finds the fault of the `*` in a host name. Undefined if there is none. */
function findStarFault({ protocol, hostname }: URL): string | undefined {
  if (!hostname.startsWith('*.')) return undefined;
  if (protocol !== 'https:') return 'must start with https:// if its host name has a *';
  const domain = hostname.slice('*.'.length);
  if (!hostName.test(domain)) {
    return 'must have a * only below a host name, without a dot at its end';
  }
  if (ownsAllSubdomains(domain)) return undefined;
  return 'must not have a * directly under a public suffix, such as co.uk, github.io or vercel.app, or below a shared domain, such as github.dev or loca.lt: anybody can have a name there. Use a domain of your own';
}

/** An origin as browsers send it: scheme, host and port, and nothing else. It may have a `*`. @see RFC 6454 §6.2 */
export const originPattern = v.pipe(
  pageUri,
  v.check(
    (uri) => uri === `${originOf(uri)}/`,
    'must be an origin such as https://app.example.com: scheme, host and port, without a path',
  ),
  v.transform((uri): OriginPattern => originOf(uri)),
);

/** The origins of a front end, separated by spaces. */
export const originPatterns = v.pipe(
  v.string(),
  v.transform((given) => given.split(' ')),
  v.array(originPattern),
  v.maxLength(20, 'must not have more than 20 origins'),
);

/** Schemes of browser extensions' pages. No system acts on an origin in a request. */
const extensionSchemes = /^(?:chrome|moz|safari-web)-extension$/;

/**
 * Whether a text is the origin of an app's or extension's own pages, such as `capacitor://localhost` or
 * `chrome-extension://<id>`. Some apps have their pages at an origin with https, such as `https://localhost` of
 * Capacitor on Android, or with http at a name of their own machine. `moz-extension://*` stands for any extension,
 * because Firefox and Safari give each extension another origin in each profile. `null` and `file://` are refused,
 * because all pages without an origin share them.
 */
function isNativeOrigin(text: string): boolean {
  if (/^(?:moz|safari-web)-extension:\/\/\*$/.test(text)) return true;
  if (text.includes('*')) return false;
  const url = URL.parse(text);
  if (/^https?:/.test(text)) return url?.origin === text && (url.protocol === 'https:' || isLoopback(url));
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\/[\w.-]+(?::\d{1,5})?$/.exec(text) ?? [];
  return url !== null && (extensionSchemes.test(scheme) || isAppScheme(scheme));
}

/** The origins of an app's or extension's own pages, separated by spaces. */
export const nativeOrigins = v.pipe(
  v.string(),
  v.transform((given) => given.split(' ')),
  v.check(
    (origins) => origins.every(isNativeOrigin),
    'must be origins as a browser sends them, such as chrome-extension://<id> or capacitor://localhost: no path, no slash at the end, no *; moz-extension://* stands for all extensions',
  ),
  v.maxLength(20, 'must not have more than 20 origins'),
);
