/**
 * The origin of a front end, or a family of origins: `https://app.example.com`,
 * `https://*.preview.example.com` or `http://localhost:*`, as the schema of schemas.ts writes it.
 */
export type OriginPattern = string;

/** A label of a host name. @see RFC 1034 §3.5 */
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** A port with its colon. Browsers leave out port 80. */
const port = /^(:[1-9]\d{0,4})?$/;
const anyPort = ':*';

/**
 * The origin that a pattern allows, built from the pattern and the text in place of its `*`.
 *
 * @param origin as browsers write it. @see RFC 6454 §6.2
 * @returns undefined if the pattern does not allow it
 */
export function allowedOrigin(pattern: OriginPattern | undefined, origin: string): string | undefined {
  if (pattern === undefined) return undefined;
  if (!hasStar(pattern)) return origin === pattern ? pattern : undefined;
  const [star, form] = pattern.endsWith(anyPort) ? [anyPort, port] : ['*', label];
  const [before = '', after = ''] = pattern.split(star);
  const inPlace = origin.slice(before.length, origin.length - after.length);
  const allowed = before + inPlace + after;
  if (allowed !== origin || !form.test(inPlace)) return undefined;
  // No browser sends what the URL parser refuses or would write in another way: port 65536, or port 80.
  return URL.parse(allowed)?.origin === allowed ? allowed : undefined;
}

/** Whether a pattern allows an origin. */
export const matches = (pattern: OriginPattern | undefined, origin: string): boolean =>
  allowedOrigin(pattern, origin) !== undefined;

/** Whether a pattern has a `*`, and so stands for several origins. */
export const hasStar = (pattern: OriginPattern): boolean => pattern.includes('*');

/** Whether a pattern stands for every port of this machine. */
export const isAnyPort = (pattern: OriginPattern): boolean => pattern.endsWith(anyPort);

/** One of the origins that a pattern allows. */
export const exampleOf = (pattern: OriginPattern): string => pattern.replace(anyPort, '').replace('*', 'example');

/** The only patterns that can allow an origin: itself, a `*` for its first label, a `*` for its port. */
const candidates: readonly ((origin: string) => OriginPattern)[] = [
  (origin) => origin,
  (origin) => origin.replace(/^https:\/\/[^.]*/, 'https://*'),
  (origin) => origin.replace(/(:\d+)?$/, anyPort),
];

/** The patterns that allow an origin. The time that this takes does not depend on how many patterns there are. */
export function* patternsThatAllow(
  origin: string,
  patterns: Pick<ReadonlySet<OriginPattern>, 'has'>,
): Generator<OriginPattern> {
  for (const candidateOf of candidates) {
    const pattern = candidateOf(origin);
    if (patterns.has(pattern) && matches(pattern, origin)) yield pattern;
  }
}

/** Gives a function that tells whether any of the patterns allows an origin. */
export function matchesAny(patterns: Iterable<OriginPattern>): (origin: string) => boolean {
  const known = new Set(patterns);
  return (origin) => patternsThatAllow(origin, known).next().done === false;
}
