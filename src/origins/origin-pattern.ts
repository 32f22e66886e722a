/**
 * The origin of a front end, or a family of origins: `https://app.example.com`, `https://*.preview.example.com` or
 * `http://localhost:*`, in the form of schemas.ts.
 */
export type OriginPattern = string;

/** A label of a host name. @see RFC 1034 §3.5 */
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** A port with its colon. Browsers leave out port 80. */
const port = /^(:[1-9]\d{0,4})?$/;
const anyPort = ':*';
/** Firefox and Safari give an extension another origin in each profile, with a UUID. */
const anyExtension = /^((?:moz|safari-web)-extension:\/\/)[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}$/;

/**
 * The origin that a pattern allows, built from the pattern and the text that replaces its `*`.
 *
 * @param origin from a browser. @see RFC 6454 §6.2
 * @returns undefined if the pattern does not allow it
 */
export function allowedOrigin(pattern: OriginPattern | undefined, origin: string): string | undefined {
  if (pattern === undefined) return undefined;
  if (!hasStar(pattern)) return origin === pattern ? pattern : undefined;
  if (isAnyExtension(pattern)) {
    const [, scheme] = anyExtension.exec(origin) ?? [];
    return scheme !== undefined && `${scheme}*` === pattern ? origin : undefined;
  }
  const { before, form, after } = partsOf(pattern);
  const inPlace = origin.slice(before.length, origin.length - after.length);
  const allowed = before + inPlace + after;
  if (allowed !== origin || !form.test(inPlace)) return undefined;
  // No browser sends an origin that the URL parser refuses or would write differently: port 65536, or port 80.
  return URL.parse(allowed)?.origin === allowed ? allowed : undefined;
}

/** The parts around the `*` of a pattern, and the form of the text in its place. */
function partsOf(pattern: OriginPattern) {
  const [star, form] = pattern.endsWith(anyPort) ? [anyPort, port] : ['*', label];
  const [before = '', after = ''] = pattern.split(star);
  return { before, form, after };
}

/** A pattern with a `*` as a regular expression, for the script of a page, where origins come from the browser. */
export function expressionOf(pattern: OriginPattern): string {
  const { before, form, after } = partsOf(pattern);
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return `^${escaped(before)}${form.source.slice(1, -1)}${escaped(after)}$`;
}

export const matches = (pattern: OriginPattern | undefined, origin: string): boolean =>
  allowedOrigin(pattern, origin) !== undefined;

export const hasStar = (pattern: OriginPattern): boolean => pattern.includes('*');

/** Whether a pattern stands for every port of this machine. */
export const isAnyPort = (pattern: OriginPattern): boolean => pattern.endsWith(anyPort);

const isAnyExtension = (pattern: OriginPattern): boolean => pattern.endsWith('://*');

export const exampleOf = (pattern: OriginPattern): string => pattern.replace(anyPort, '').replace('*', 'example');

/**
 * The only patterns that can allow an origin: itself, or with a `*` for its first label, its port, or its extension.
 */
const candidates: readonly ((origin: string) => OriginPattern)[] = [
  (origin) => origin,
  (origin) => origin.replace(/^https:\/\/[^.]*/, 'https://*'),
  (origin) => origin.replace(/(:\d+)?$/, anyPort),
  (origin) => origin.replace(anyExtension, '$1*'),
];

/** The patterns that allow an origin. The time does not grow with the number of patterns. */
export function* patternsThatAllow(
  origin: string,
  patterns: Pick<ReadonlySet<OriginPattern>, 'has'>,
): Generator<OriginPattern> {
  for (const candidateOf of candidates) {
    const pattern = candidateOf(origin);
    if (patterns.has(pattern) && matches(pattern, origin)) yield pattern;
  }
}

export function matchesAny(patterns: Iterable<OriginPattern>): (origin: string) => boolean {
  const known = new Set(patterns);
  return (origin) => patternsThatAllow(origin, known).next().done === false;
}
