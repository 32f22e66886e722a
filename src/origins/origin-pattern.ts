/** What a `*` in an origin stands for. `nothing`: the origin has no `*`. */
type Star = 'nothing' | 'label' | 'port';

/** The origin of a front end, or a family of origins: the text before its `*`, and the text after it. */
export interface OriginPattern {
  readonly before: string;
  readonly star: Star;
  readonly after: string;
}

const starForms: Readonly<Record<Star, RegExp>> = {
  nothing: /^$/,
  // @see RFC 1034 §3.5
  label: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  // Browsers leave out port 80.
  port: /^(:[1-9]\d{0,4})?$/,
};

/** The pattern as text: `https://*.preview.example.com`. */
export function patternText({ before, star, after }: OriginPattern): string {
  return `${before}${{ nothing: '', label: '*', port: ':*' }[star]}${after}`;
}

/**
 * The origin that a pattern allows, built from the pattern and the text in place of its `*`.
 *
 * @param origin as browsers write it. @see RFC 6454 §6.2
 * @returns undefined if the pattern does not allow it
 */
export function allowedOrigin(
  { before, star, after }: OriginPattern,
  origin: string,
): string | undefined {
  if (star === 'nothing') return origin === before ? before : undefined;
  if (!origin.startsWith(before) || !origin.endsWith(after)) return undefined;
  const inPlace = origin.slice(before.length, origin.length - after.length);
  if (!starForms[star].test(inPlace)) return undefined;
  const allowed = before + inPlace + after;
  // No browser sends what the URL parser refuses or would write in another way: port 65536, or port 80.
  return allowed === origin && URL.parse(allowed)?.origin === allowed ? allowed : undefined;
}

/** Whether a pattern allows an origin. */
export function matches(pattern: OriginPattern, origin: string): boolean {
  return allowedOrigin(pattern, origin) !== undefined;
}
