import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Sending, send } from '../client/http-client.ts';
import { baseUrl, frontendOrigin, loginPath } from '../relay/relay-under-test.ts';
import { navigation } from './fake-browser.ts';

/** What the visitor sees once no redirect leads on. The front end is an empty page. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
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
  #cookies: Cookie[] = [];

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
      this.#keep(page);
      const { location } = page.headers;
      if (page.status < 300 || page.status > 399 || location === undefined) return page;
      url = new URL(location, url);
      sending = {};
    }
    throw new Error(`the redirects do not end: ${this.trail.join(' ')}`);
  }

  async #request(url: URL, sending: Submission): Promise<Page> {
    const headers: [string, string][] = [...navigation];
    const cookies = this.#cookiesFor(url);
    if (cookies !== '') headers.push(['Cookie', cookies]);
    if (sending.body !== undefined) {
      headers.push(['Content-Type', 'application/x-www-form-urlencoded']);
    }
    const path = url.pathname + url.search;
    if (url.origin === baseUrl) {
      const answer = await send(this.relay.port, { ...sending, path, headers });
      return { url, status: answer.status, headers: answer.headers, body: `${answer.body}` };
    }
    const outgoing = request({
      host: '127.0.0.1',
      port: this.#places[url.origin] ?? url.port,
      method: sending.method ?? 'GET',
      path,
      headers: { ...Object.fromEntries(headers), Host: url.host },
      agent: false,
    });
    outgoing.end(sending.body);
    const [answer]: IncomingMessage[] = await once(outgoing, 'response');
    if (answer === undefined) throw new Error('no answer');
    const body = await text(answer);
    return { url, status: answer.statusCode ?? 0, headers: answer.headers, body };
  }

  #cookiesFor({ host, pathname }: URL): string {
    return this.#cookies
      .filter((cookie) => cookie.host === host && pathname.startsWith(cookie.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #keep({ url: { host }, headers }: Page): void {
    for (const line of headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? '/';
      const isOther = (cookie: Cookie) =>
        cookie.name !== name || cookie.path !== path || cookie.host !== host;
      this.#cookies = this.#cookies.filter(isOther);
      if (value !== '') this.#cookies.push({ name, value, host, path });
    }
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
