/** Text that the man macros show unchanged: no escapes, no macros, hyphens that can be copied. */
export function text(value: string): string {
  return value
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^([.'])/gm, '\\&$1');
}

/** A section with its heading. */
export function section(heading: string, content: string): string {
  return `.SH ${heading}\n${content.replace(/\n*$/, '\n')}`;
}

/** A part of a section with its heading. */
export function subsection(heading: string, content: string): string {
  return `.SS ${heading}\n${content}`;
}

/** Text to type as it is. */
export function literal(value: string): string {
  return `\\fB${text(value)}\\fR`;
}

/** The name of a value that the reader chooses. */
export function placeholder(value: string): string {
  return `\\fI${text(value)}\\fR`;
}

/** An item of a list: what it is about, and its paragraphs. */
export function item(tag: string, ...paragraphs: readonly string[]): string {
  return `.TP\n${tag}\n${paragraphs.join('\n.IP\n')}\n`;
}

/** Commands, one per line. */
export function example(...lines: readonly string[]): string {
  return `.PP\n.RS 4\n.nf\n${lines.map(literal).join('\n')}\n.fi\n.RE\n`;
}

/** Plain text as a sentence. */
export function sentence(words: string): string {
  return `${text(words.charAt(0).toUpperCase() + words.slice(1))}.`;
}

/** Ends lines before column 80, as the source of a page should; never before a macro's sign. */
export function fold(source: string): string {
  return source.replaceAll(/^(?!\.).{81,}$/gm, (line) =>
    line.replaceAll(/(.{1,80})(?: (?![.'])|$)/g, '$1\n').trimEnd(),
  );
}
