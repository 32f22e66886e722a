/**
 * An e-mail address with exactly one `@`. In `mallory@evil.test@example.com`, some programs read the domain after the
 * first `@`, others after the last, and some treat two other at signs of Unicode as `@`. An attacker with such an
 * address, even if it is verified, could pass for somebody at `example.com`.
 */
const address = /^[^\s\p{C}@\uff20\ufe6b]+@([^\s\p{C}@\uff20\ufe6b]+)$/u;

/** Whether a text is one e-mail address that every program reads alike. */
export const isAddress = (text: string): boolean => address.test(text);

/** The domain of an e-mail address; undefined if the text is not an address. */
export const readDomain = (text: string): string | undefined => address.exec(text)?.[1];

/** Whether a text has a character that some program reads as the `@` of an address. */
export const hasAtSign = (text: string): boolean => /[@\uff20\ufe6b]/.test(text);
