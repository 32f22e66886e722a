type Rgb = readonly [number, number, number];

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];
/** The backgrounds of text in light and in dark, `--sheet` in html.ts. */
const lightGround: Rgb = [255, 253, 248];
const darkGround: Rgb = [26, 33, 30];
/** The least contrast of text. @see WCAG 2.2, 1.4.3 */
const leastContrast = 4.5;

/**
 * The style sheet of an operator's colour. Buttons have this colour, and links the nearest colour with enough contrast.
 * Under the pointer, a button has a stronger colour (`--strong`).
 *
 * @param colour as `#rrggbb`
 */
export function accentStyle(colour: string): string {
  const given = parseHex(colour);
  const ink = contrast(given, white) >= contrast(given, black) ? white : black;
  const strong = mix(given, ink === white ? black : white, 0.15);
  const rule = (ground: Rgb, towards: Rgb) => {
    const accent = withContrast(given, ground, towards);
    return `:root { --accent: ${toHex(accent)}; --strong: ${toHex(strong)}; --on-accent: ${toHex(ink)} }`;
  };
  const light = rule(lightGround, black);
  const dark = rule(darkGround, white);
  const button = `nav[data-login] a:first-child, button[data-last] { background: ${toHex(given)} }`;
  return `${light}\n@media (prefers-color-scheme: dark) { ${dark} }\n${button}\n`;
}

/** Mixes a colour with black or white until it has enough contrast to its background. */
function withContrast(colour: Rgb, ground: Rgb, towards: Rgb): Rgb {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, towards, share);
    if (contrast(mixed, ground) >= leastContrast) return mixed;
  }
  return towards;
}

/** Mixes two colours. @param share the share of the other colour, from 0 to 1 */
function mix(one: Rgb, other: Rgb, share: number): Rgb {
  const mixChannel = (a: number, b: number) => Math.round(a + (b - a) * share);
  return [mixChannel(one[0], other[0]), mixChannel(one[1], other[1]), mixChannel(one[2], other[2])];
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(rgb: Rgb): number {
  const linear = (channel: number) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

function parseHex(colour: string): Rgb {
  const channel = (at: number) => Number.parseInt(colour.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

const toHex = (rgb: Rgb) => `#${rgb.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
