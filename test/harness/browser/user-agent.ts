/** A browser's bare minimum: keeps cookies by path, follows nothing by itself. */
export class UserAgent {
  readonly #cookies: { name: string; value: string; path: string; host: string }[] = [];

  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const { host, pathname } = new URL(url);
    const cookies = this.#cookies
      .filter((cookie) => cookie.host === host && pathname.startsWith(cookie.path))
      .map(({ name, value }) => `${name}=${value}`);
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    if (cookies.length > 0) headers.set('cookie', cookies.join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line, host);
    return response;
  }

  /** Sends a form with POST. */
  async submit(url: string, fields: Record<string, string>): Promise<Response> {
    return await this.request(url, { method: 'POST', body: new URLSearchParams(fields) });
  }

  /** Follows redirects until one leads to an address that starts with `stop`; answers that address. */
  async follow(response: Response, stop: string): Promise<string> {
    const target = locationOf(response);
    await response.body?.cancel();
    if (target.startsWith(stop)) return target;
    return await this.follow(await this.request(target), stop);
  }

  #keep(line: string, host: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? '/';
    const old = this.#cookies.findIndex((c) => c.name === name && c.path === path);
    if (old >= 0) this.#cookies.splice(old, 1);
    if (value !== '') this.#cookies.push({ name, value, path, host });
  }
}

/** Where a redirect leads, as an absolute address. */
export function locationOf(response: Response): string {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`status ${response.status} without a Location`);
  return new URL(location, response.url).href;
}
