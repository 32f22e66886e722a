interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
}

/** The cookies of a browser, by host and path. A cookie that is set to nothing is removed. */
export class CookieJar {
  #cookies: Cookie[] = [];

  /** The `Cookie` header of a request to this address, or nothing if there are no cookies for it. */
  cookiesFor({ host, pathname }: URL): string | undefined {
    const pairs = this.#cookies
      .filter((cookie) => cookie.host === host && pathname.startsWith(cookie.path))
      .map(({ name, value }) => `${name}=${value}`);
    return pairs.length > 0 ? pairs.join('; ') : undefined;
  }

  /** Keeps what the `Set-Cookie` headers of an answer from this address say. */
  keep({ host }: URL, setCookies: readonly string[] = []): void {
    for (const line of setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? '/';
      const isOther = (cookie: Cookie) =>
        cookie.name !== name || cookie.path !== path || cookie.host !== host;
      this.#cookies = this.#cookies.filter(isOther);
      if (value !== '') this.#cookies.push({ name, value, host, path });
    }
  }
}
