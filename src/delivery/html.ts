/** Text that is already HTML; everything else is escaped by {@link html}. */
export interface Markup {
  readonly markup: string;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for element content and for quoted attribute values, in HTML and in SVG. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Template tag that escapes every value except {@link Markup}. */
export function html(strings: TemplateStringsArray, ...values: (string | Markup)[]): Markup {
  const parts = strings.map((string, index) => {
    const value = values[index] ?? '';
    return string + (typeof value === 'string' ? escapeHtml(value) : value.markup);
  });
  return { markup: parts.join('') };
}
