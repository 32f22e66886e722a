import type { Answer } from '../client/http-client.ts';

/** One `Set-Cookie` header, taken apart without forgiving anything. */
export interface SetCookie {
  readonly name: string;
  readonly value: string;
  readonly maxAge: string | undefined;
  /** Everything after the value, as it was written, sorted. */
  readonly attributes: readonly string[];
}

/** The cookies that an answer sets or clears, in their order. */
export function setCookies({ headers }: Pick<Answer, 'headers'>): SetCookie[] {
  return (headers['set-cookie'] ?? []).map((line) => {
    const [pair = '', ...attributes] = line.split('; ');
    const equals = pair.indexOf('=');
    const maxAge = attributes.find((attribute) => attribute.startsWith('Max-Age='));
    return {
      name: pair.slice(0, equals),
      value: pair.slice(equals + 1),
      maxAge: maxAge?.slice('Max-Age='.length),
      attributes: attributes.sort(),
    };
  });
}

/** The names of the cookies that an answer clears. */
export function clearedCookies(answer: Pick<Answer, 'headers'>): string[] {
  return setCookies(answer)
    .filter(({ maxAge }) => maxAge === '0')
    .map(({ name }) => name);
}
