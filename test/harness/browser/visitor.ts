import type { IncomingHttpHeaders } from 'node:http';
import { type Sending, send } from '../client/http-client.ts';
import { request } from '../client/request.ts';
import { baseUrl, frontendOrigin, loginPath } from '../relay/relay-under-test.ts';
import { CookieJar } from './cookie-jar.ts';
import { navigation } from './fake-browser.ts';

/** What the visitor sees once no redirect leads on. The front end is an empty page. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Submission = Pick<Sending, 'method' | 'body'>;

/** A person with a browser that keeps cookies, follows redirects and fills in forms. */
export class Visitor {
  /** Every address that was opened, in order. */
  readonly trail: URL[] = [];
  /** Changes an address before it is opened, as someone between the two sides would. */
  detour: (url: URL) => void = () => {};
  /** The relay that answers at its public address from now on. */
  relay: { readonly port: number };
  readonly #places: Readonly<Record<string, number>>;
  readonly #jar = new CookieJar();

  /** @param places ports of this machine that stand for an origin elsewhere */
  constructor(relay: { readonly port: number }, places: Readonly<Record<string, number>> = {}) {
    this.relay = relay;
    this.#places = places;
  }

  /** Goes to the start of the login, and from there wherever it leads. */
  async startLogin(): Promise<Page> {
    return await this.open(baseUrl + loginPath);
  }

  async open(address: string): Promise<Page> {
    return await this.#follow(new URL(address));
  }

  /** Sends the page's form with these fields beside its hidden ones. */
  async submit(page: Page, fields: Readonly<Record<string, string>> = {}): Promise<Page> {
    const action = /<form[^>]* action="([^"]*)"/.exec(page.body)?.[1];
    if (action === undefined) throw new Error(`no form on the page: ${page.body}`);
    const form = new URLSearchParams(hiddenFields(page.body));
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return await this.#follow(new URL(action, page.url), { method: 'POST', body: `${form}` });
  }

  /** The last address that was opened at this origin and path. */
  visited(address: string): URL {
    const found = this.trail.findLast(({ origin, pathname }) => origin + pathname === address);
    if (found === undefined) throw new Error(`nobody went to ${address}: ${this.trail.join(' ')}`);
    return found;
  }

  async #follow(address: URL, submission: Submission = {}): Promise<Page> {
    let url = address;
    let sending = submission;
    for (let hops = 0; hops < 20; hops += 1) {
      this.detour(url);
      this.trail.push(new URL(url));
      if (url.origin === frontendOrigin) return { url, status: 200, headers: {}, body: '' };
      const page = await this.#request(url, sending);
      const { location } = page.headers;
      if (page.status < 300 || page.status > 399 || location === undefined) return page;
      url = new URL(location, url);
      sending = {};
    }
    throw new Error(`the redirects do not end: ${this.trail.join(' ')}`);
  }

  async #request(url: URL, { method, body }: Submission): Promise<Page> {
    const headers: [string, string][] = [...navigation];
    const cookies = this.#jar.cookiesFor(url);
    if (cookies !== undefined) headers.push(['Cookie', cookies]);
    if (body !== undefined) headers.push(['Content-Type', 'application/x-www-form-urlencoded']);
    const sending = {
      path: url.pathname + url.search,
      headers,
      ...(method && { method }),
      ...(body !== undefined && { body }),
    };
    const answer =
      url.origin === baseUrl
        ? await send(this.relay.port, sending)
        : await request(this.#places[url.origin] ?? Number(url.port), {
            ...sending,
            authority: url.host,
          });
    this.#jar.keep(url, answer.headers['set-cookie']);
    return { url, status: answer.status, headers: answer.headers, body: `${answer.body}` };
  }
}

function hiddenFields(html: string): Record<string, string> {
  const inputs = html.match(/<input[^>]*type="hidden"[^>]*>/g) ?? [];
  return Object.fromEntries(
    inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')]),
  );
}

function attribute(tag: string, name: string): string {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
}
