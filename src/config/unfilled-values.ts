const placeholderFault = 'is a placeholder: give the value itself';
const quotesFault = 'has quotes around it, which are part of the value: leave them out';

/** Forms of values that nobody has filled in, such as `${SECRET}`, for secrets and for other settings. */
const unfilledForms: readonly [form: RegExp, message: string][] = [
  [/^\$\{[^}]*\}$|^\$[A-Z_][A-Z0-9_]*$/, 'is a variable that nothing has replaced'],
  [/^\{\{.*\}\}$/s, 'is a template that nothing has filled in'],
  [/^YOUR[-_ ]/, placeholderFault],
];

/**
 * Further forms of secrets. One in 3,000 random passwords begins and ends with the same quote, so the part in between
 * must look like an issued secret, or like words.
 */
const unfilledSecrets: typeof unfilledForms = [
  [/^<[a-z][\w -]*>$/i, placeholderFault],
  [/^(["'`])[\w.~+/=-]*\1$/, quotesFault],
];

const unfilledOthers: typeof unfilledForms = [
  [/^<[^<>]*>$/, placeholderFault],
  [/^(["'`]).*\1$/s, quotesFault],
];

/** Parts of a value that were never filled in. */
const unfilledParts: typeof unfilledForms = [
  [/\$\{[^}]*\}/, 'has a variable in it that nothing has replaced'],
  [/\{\{.*\}\}/s, 'has a template in it that nothing has filled in'],
  [/[/.@=]YOUR[-_]/, 'has a placeholder in it: give the value itself'],
];

/**
 * Says why a value that is no secret cannot be meant: a shell, a template or a person was to fill in a placeholder, and
 * did not.
 *
 * @returns a message that completes a sentence and does not quote the value; undefined if the value may be meant
 */
export const whyUnfilled = (value: string): string | undefined =>
  findMessage([...unfilledForms, ...unfilledOthers, ...unfilledParts], value);

/** As {@link whyUnfilled}, for a secret. Only its whole form counts, because a random secret may contain anything. */
export const whySecretUnfilled = (secret: string): string | undefined =>
  findMessage([...unfilledForms, ...unfilledSecrets], secret);

const findMessage = (forms: typeof unfilledForms, value: string) => forms.find(([form]) => form.test(value))?.[1];
