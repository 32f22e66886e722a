/**
 * An e-mail address with exactly one `@`, and something before and after it. Of `mallory@evil.test@example.com`, one
 * program reads the domain after the first `@`, another one after the last; and some read the two other at signs of
 * Unicode as `@`. So an attacker with such an address, even a verified one, could pass for somebody at `example.com`.
 */
const address = /^[^\s\p{C}@\uff20\ufe6b]+@([^\s\p{C}@\uff20\ufe6b]+)$/u;

/** Whether a text is one e-mail address, which every program reads in the same way. */
export const isAddress = (text: string): boolean => address.test(text);

/** The domain of an e-mail address; undefined if the text is no address. */
export const readDomain = (text: string): string | undefined => address.exec(text)?.[1];

/** Whether a text has a sign that some program reads as the `@` of an address. */
export const hasAtSign = (text: string): boolean => /[@\uff20\ufe6b]/.test(text);
