/** A header of a request, a character a byte. */
export type Header = readonly [name: string, value: string];

/** Writes a request without a body. */
export function render(
  method: string,
  target: string,
  version: string,
  headers: readonly Header[],
) {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} ${version}\r\n${lines.join('')}\r\n`;
}

/** Without what ends a target. */
export function visible(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '');
}

/** Without what ends the value of a header. */
export function fieldValue(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}

/** Only what the name of a header may have. */
export function tokenCharacters(text: string): string {
  return text.replaceAll(/[^\w!#$%&'*+.^`|~-]/g, '') || 'X';
}
