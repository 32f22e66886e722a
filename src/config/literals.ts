/** What marks a value that is still to be filled in: the text as a whole, and parts of texts that are no secrets. */
const wholes: readonly [form: RegExp, message: string][] = [
  [/^\$\{[^}]*\}$|^\$[A-Z_][A-Z0-9_]*$/, 'is a variable that nothing has replaced'],
  [/^\{\{.*\}\}$/s, 'is a template that nothing has filled in'],
  [/^<[^<>]*>$|^YOUR[-_ ]/, 'is a placeholder: give the value itself'],
  [/^(["'`]).*\1$/s, 'has quotes around it, which are part of the value: leave them out'],
];

const parts: readonly [form: RegExp, message: string][] = [
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
  const forms = isSecret ? wholes : [...wholes, ...parts];
  return forms.find(([form]) => form.test(text))?.[1];
}
