/**
 * The origin of a front end, or a family of origins: `https://app.example.com`, `https://*.preview.example.com` or
 * `http://localhost:*`, in the form of origin-schemas.ts.
 */
export type OriginPattern = string;

/** A label of a host name. @see RFC 1034 §3.5 */
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** A port with its colon, or nothing, because browsers leave out the default port. */
const port = /^(:[1-9]\d{0,4})?$/;
const anyPort = ':*';
/** Firefox and Safari give an extension another origin in each profile, with a UUID. */
const anyExtension = /^((?:moz|safari-web)-extension:\/\/)[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}$/;

/**
 * Returns an origin if a pattern allows it. The result is built from the pattern and the text that replaces its `*`.
 *
 * @param origin as a browser sends it
 * @returns undefined if the pattern does not allow the origin
 * @see RFC 6454 §6.2
 */
export function allowedOrigin(pattern: OriginPattern | undefined, origin: string): string | undefined {
  if (pattern === undefined) return undefined;
  if (!hasStar(pattern)) return origin === pattern ? pattern : undefined;
  if (isAnyExtension(pattern)) {
    const [, scheme] = anyExtension.exec(origin) ?? [];
    return scheme !== undefined && `${scheme}*` === pattern ? origin : undefined;
  }
  const { before, form, after } = splitAtStar(pattern);
  const replacement = origin.slice(before.length, origin.length - after.length);
  const allowed = before + replacement + after;
  if (allowed !== origin || !form.test(replacement)) return undefined;
  // No browser sends an origin that the URL parser refuses or would write differently, such as with port 65536 or 80.
  return URL.parse(allowed)?.origin === allowed ? allowed : undefined;
}

/** Splits a pattern into the parts around its `*`, and the form of the text that replaces it. */
function splitAtStar(pattern: OriginPattern) {
  const [star, form] = pattern.endsWith(anyPort) ? [anyPort, port] : ['*', label];
  const [before = '', after = ''] = pattern.split(star);
  return { before, form, after };
}

/** Returns a pattern with a `*` as the source of a regular expression, for the script of a page. */
export function toRegExpSource(pattern: OriginPattern): string {
  const { before, form, after } = splitAtStar(pattern);
  const escapeText = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const formWithoutAnchors = form.source.slice(1, -1);
  return `^${escapeText(before)}${formWithoutAnchors}${escapeText(after)}$`;
}

/** Whether a pattern allows an origin. */
export const matches = (pattern: OriginPattern | undefined, origin: string): boolean =>
  allowedOrigin(pattern, origin) !== undefined;

/** Whether a pattern allows several origins. */
export const hasStar = (pattern: OriginPattern): boolean => pattern.includes('*');

/** Whether a pattern allows every port of this machine. */
export const isAnyPort = (pattern: OriginPattern): boolean => pattern.endsWith(anyPort);

/** Whether a pattern allows every extension of a browser. */
const isAnyExtension = (pattern: OriginPattern): boolean => pattern.endsWith('://*');

/** Returns an origin that a pattern allows. */
export const exampleOrigin = (pattern: OriginPattern): string => pattern.replace(anyPort, '').replace('*', 'example');

/**
 * The only patterns that can allow an origin: the origin itself, or with a `*` for its first label, port or extension.
 */
const candidatePatterns: readonly ((origin: string) => OriginPattern)[] = [
  (origin) => origin,
  (origin) => origin.replace(/^https:\/\/[^.]*/, 'https://*'),
  (origin) => origin.replace(/(:\d+)?$/, anyPort),
  (origin) => origin.replace(anyExtension, '$1*'),
];

/** Finds the patterns that allow an origin, in a time that does not grow with their number. */
export function* patternsThatAllow(
  origin: string,
  patterns: Pick<ReadonlySet<OriginPattern>, 'has'>,
): Generator<OriginPattern> {
  for (const createCandidate of candidatePatterns) {
    const pattern = createCandidate(origin);
    if (patterns.has(pattern) && matches(pattern, origin)) yield pattern;
  }
}

/** Creates a function that says whether one of the patterns allows an origin. */
export function createOriginMatcher(patterns: Iterable<OriginPattern>): (origin: string) => boolean {
  const known = new Set(patterns);
  return (origin) => patternsThatAllow(origin, known).next().done === false;
}
