import { CookieJar } from './cookie-jar.ts';

/** A browser's bare minimum: keeps cookies by path, follows nothing by itself. */
export class UserAgent {
  readonly #jar = new CookieJar();

  async request(address: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address);
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    const cookies = this.#jar.cookiesFor(url);
    if (cookies !== undefined) headers.set('cookie', cookies);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    this.#jar.keep(url, response.headers.getSetCookie());
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
}

/** Where a redirect leads, as an absolute address. */
export function locationOf(response: Response): string {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`status ${response.status} without a Location`);
  return new URL(location, response.url).href;
}
