/** A header of a request. Each character is a byte. */
export type Header = readonly [name: string, value: string];

/** Writes a request without a body. */
export function render(method: string, target: string, headers: readonly Header[], version = 'HTTP/1.1'): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} ${version}\r\n${lines.join('')}\r\n`;
}

/** Removes the characters that end a target. */
export function visible(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '');
}

/** Removes the characters that end the value of a header. */
export function fieldValue(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}

/** Keeps only the characters that are allowed in the name of a header. */
export function tokenCharacters(text: string): string {
  return text.replaceAll(/[^\w!#$%&'*+.^`|~-]/g, '') || 'X';
}
