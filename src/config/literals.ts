const isPlaceholder = 'is a placeholder: give the value itself';
const isQuoted = 'has quotes around it, which are part of the value: leave them out';

/** What marks a value that is still to be filled in, whatever it is for. */
const wholes: readonly [form: RegExp, message: string][] = [
  [/^\$\{[^}]*\}$|^\$[A-Z_][A-Z0-9_]*$/, 'is a variable that nothing has replaced'],
  [/^\{\{.*\}\}$/s, 'is a template that nothing has filled in'],
  [/^YOUR[-_ ]/, isPlaceholder],
];

/**
 * A secret may begin and end with any characters: of random passwords, one in 3,000 has the same quote at both ends. So
 * what is between them has to look like a secret that a provider issues, or like words.
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
 * Why a text cannot be meant: whatever was to fill it in, a shell, a template or a person, has not. Secrets are random, so
 * only what they are as a whole counts.
 *
 * @returns undefined if it may be meant. The message completes a sentence, and does not quote the text
 */
export function whyUnfilled(text: string, isSecret: boolean): string | undefined {
  const forms = [...wholes, ...(isSecret ? wholesOfSecrets : [...wholesOfOthers, ...parts])];
  return forms.find(([form]) => form.test(text))?.[1];
}
