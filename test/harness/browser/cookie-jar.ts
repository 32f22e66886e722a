import type { Answer } from '../client/request.ts';

/** The cookies that an answer sets or clears, in their order, with their attributes as written, sorted. */
export function setCookies({ headers }: Pick<Answer, 'headers'>) {
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

/** The cookies of a browser, by host and path. */
export class CookieJar {
  readonly #places: { host: string; path: string; cookies: Map<string, string> }[] = [];

  /** The cookies with this host and path by name, the oldest first. */
  at(host: string, path = '/'): Map<string, string> {
    const known = this.#places.find((place) => place.host === host && place.path === path);
    if (known !== undefined) return known.cookies;
    const cookies = new Map<string, string>();
    this.#places.push({ host, path, cookies });
    return cookies;
  }

  /** The `Cookie` header of a request to this address; empty if there are no cookies for it. */
  headerFor({ host, pathname }: URL): string {
    return this.#places
      .filter((place) => place.host === host && pathname.startsWith(place.path))
      .flatMap(({ cookies }) => [...cookies].map(([name, value]) => `${name}=${value}`))
      .join('; ');
  }

  /** Stores the cookies of an answer from this address. A cookie without a value is removed. */
  keep({ host }: URL, answer: Pick<Answer, 'headers'>): void {
    for (const { name, value, maxAge, attributes } of setCookies(answer)) {
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length);
      const cookies = this.at(host, path);
      if (maxAge === '0' || value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
  }
}
