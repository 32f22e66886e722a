type Rgb = readonly [number, number, number];

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];
const grounds: readonly Rgb[] = [
  [255, 253, 248],
  [26, 33, 30],
];
/** The least contrast of text. @see WCAG 2.2, 1.4.3 */
const leastContrast = 4.5;

/** CSS with this colour for buttons, and for links the nearest colour with enough contrast. */
export function accentStyle(colour: string): string {
  const given = rgbOf(colour);
  const ink = contrast(given, white) >= contrast(given, black) ? white : black;
  const strong = mixed(given, ink === white ? black : white, 0.15);
  const [light = '', dark = ''] = grounds.map((ground, index) => {
    const accent = readable(given, ground, index === 0 ? black : white);
    return `:root { --accent: ${hexOf(accent)}; --strong: ${hexOf(strong)}; --on-accent: ${hexOf(ink)} }`;
  });
  const button = `nav[data-login] a:first-child { background: ${hexOf(given)} }`;
  return `${light}\n@media (prefers-color-scheme: dark) { ${dark} }\n${button}\n`;
}

/** Mixes the colour with another one until it has enough contrast. */
function readable(colour: Rgb, ground: Rgb, towards: Rgb): Rgb {
  for (let part = 0; part < 1; part += 0.05) {
    const mix = mixed(colour, towards, part);
    if (contrast(mix, ground) >= leastContrast) return mix;
  }
  return towards;
}

function mixed(one: Rgb, other: Rgb, part: number): Rgb {
  const mix = (a: number, b: number) => Math.round(a + (b - a) * part);
  return [mix(one[0], other[0]), mix(one[1], other[1]), mix(one[2], other[2])];
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(rgb: Rgb): number {
  const linear = (channel: number) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

function rgbOf(colour: string): Rgb {
  const channel = (at: number) => Number.parseInt(colour.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

const hexOf = (rgb: Rgb) => `#${rgb.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
