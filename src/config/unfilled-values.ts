const isPlaceholder = 'is a placeholder: give the value itself';
const isQuoted = 'has quotes around it, which are part of the value: leave them out';

/** Forms of a value that was never filled in, whatever it is for. */
const wholes: readonly [form: RegExp, message: string][] = [
  [/^\$\{[^}]*\}$|^\$[A-Z_][A-Z0-9_]*$/, 'is a variable that nothing has replaced'],
  [/^\{\{.*\}\}$/s, 'is a template that nothing has filled in'],
  [/^YOUR[-_ ]/, isPlaceholder],
];

/**
 * A secret may begin and end with any characters: one in 3,000 random passwords has the same quote at both ends. So the
 * part in between must look like an issued secret, or like words.
 */
const wholesOfSecrets: typeof wholes = [
  [/^<[a-z][\w -]*>$/i, isPlaceholder],
  [/^(["'`])[\w.~+/=-]*\1$/, isQuoted],
];

const wholesOfOthers: typeof wholes = [
  [/^<[^<>]*>$/, isPlaceholder],
  [/^(["'`]).*\1$/s, isQuoted],
];

const parts: typeof wholes = [
  [/\$\{[^}]*\}/, 'has a variable in it that nothing has replaced'],
  [/\{\{.*\}\}/s, 'has a template in it that nothing has filled in'],
  [/[/.@=]YOUR[-_]/, 'has a placeholder in it: give the value itself'],
];

/**
 * Why a text cannot be meant: a shell, a template or a person was to fill it in, and did not. Secrets are random, so
 * only their whole form counts.
 *
 * @returns undefined if it may be meant. The message completes a sentence, and does not quote the text
 */
export function whyUnfilled(text: string, isSecret: boolean): string | undefined {
  const forms = [...wholes, ...(isSecret ? wholesOfSecrets : [...wholesOfOthers, ...parts])];
  return forms.find(([form]) => form.test(text))?.[1];
}
