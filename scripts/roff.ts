/** Text as the man macros show it to the letter: no escapes, no macros, hyphens that can be copied. */
export function text(value: string): string {
  return value
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^([.'])/gm, '\\&$1');
}

/** Text that is typed as it stands. */
export function literal(value: string): string {
  return `\\fB${text(value)}\\fR`;
}

/** Text that stands for something. */
export function placeholder(value: string): string {
  return `\\fI${text(value)}\\fR`;
}

/** An item of a list: what it is about, and its paragraphs. */
export function item(tag: string, ...paragraphs: readonly string[]): string {
  return `.TP\n${tag}\n${paragraphs.join('\n.IP\n')}\n`;
}

/** Commands as they are typed, one a line. */
export function example(...lines: readonly string[]): string {
  return `.PP\n.RS 4\n.nf\n${lines.map(literal).join('\n')}\n.fi\n.RE\n`;
}
