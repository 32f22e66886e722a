import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import { CookieJar } from '../../harness/browser/cookie-jar.ts';
import { granted, navigation, navigationWith } from '../../harness/browser/fake-browser.ts';
import { type Answer, request } from '../../harness/client/request.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import type { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { relayOfFile, type Settings } from '../../harness/relay/relay-of-file.ts';
import { withoutBase } from '../../harness/system/variant.ts';

type Headers = [name: string, value: string][];

export const wiki = 'https://wiki.example.com';
export const board = 'https://board.example.org';

/** The provider's record of the person. */
export const ada = {
  sub: '42',
  preferred_username: 'ada',
  email: 'ada@example.com',
  email_verified: true,
  groups: ['staff'],
};

/** Two resources that open to browsers, and a program that gets tokens for both. */
export const settings: Settings = {
  relay: `trusted-proxies: [127.0.0.1]
resources:
  wiki: { url: ${wiki}/, identity: [email, groups], allow: { users: ['42', '43'] }, browser: true }
  board: { url: ${board}/, browser: { lifetime: 60, renew: 5 } }
`,
  frontEnds:
    '  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, resources: [wiki, board] }\n',
};

/** The headers of a form that a page of the same origin sends. */
export const ownForm: Headers = navigationWith('Sec-Fetch-Site', 'same-origin');

/** The headers of a page of an origin that fetches something from it. */
export const fetching: Headers = [
  ['Accept', '*/*'],
  ['Sec-Fetch-Site', 'same-origin'],
  ['Sec-Fetch-Mode', 'cors'],
  ['Sec-Fetch-Dest', 'empty'],
];

/** A relay, behind a reverse proxy that asks it about each request to a resource. */
export class DoorRelay extends ClientsRelay {
  static override async start(settings: Settings): Promise<DoorRelay> {
    const relay = await DoorRelay.listen();
    await relay.restart(settings);
    return relay;
  }

  /** Each provider that logs its people in. */
  get providers(): readonly RefreshingProvider[] {
    return [this.provider];
  }

  /** The answer of the check to a request, asked as nginx, Caddy, HAProxy and Traefik do. */
  async check(url: string, headers: Headers, { method = 'GET', endpoint = 'check' } = {}): Promise<Answer> {
    const { pathname, search, hostname } = new URL(url);
    const asked: Headers = [
      ['X-Forwarded-Method', method],
      ['X-Forwarded-Uri', pathname + search],
      ['X-Forwarded-Host', hostname],
    ];
    const resource = resourceAt(url);
    return await request(this.port, { path: `/auth/${endpoint}/${resource}`, headers: [...asked, ...headers] });
  }

  /** @param proxyPort of a real reverse proxy in front of the resources */
  person(proxyPort?: number): DoorBrowser {
    return new DoorBrowser(this, proxyPort);
  }
}

const resourceAt = (url: string) => (new URL(url).origin === board ? 'board' : 'wiki');

/** The page at the end of all redirects. */
export interface Page extends Answer {
  readonly url: URL;
  readonly text: string;
}

/** Where the logins of a browser are. */
export interface Logins extends Pick<DoorRelay, 'address' | 'port' | 'provider'> {
  /** Asks the check like a proxy, if there is no real proxy. */
  readonly check?: DoorRelay['check'];
  /** All providers, if there are several. */
  readonly providers?: DoorRelay['providers'];
}

/**
 * A browser whose person is already logged in at the provider, so that the provider grants each login without a
 * question.
 */
export class DoorBrowser {
  readonly jar = new CookieJar();
  /** Every address that it has opened, in order. */
  readonly trail: string[] = [];
  /** Every `Set-Cookie` that it has got. */
  readonly set: string[] = [];
  /** Whether it keeps cookies of this host. */
  keepsCookie: (name: string, host: string) => boolean = () => true;
  /** Whether the proxy hands its cookies to the check. */
  proxyPassesCookies = true;
  /** Whether the proxy passes on the cookies that the check sets. */
  proxyPassesSetCookie = true;
  /** How often a provider was asked. */
  logins = 0;
  /** The requests to providers, in order. */
  readonly asked: URL[] = [];
  readonly #relay: Logins;
  readonly #proxyPort: number | undefined;

  /**
   * @param proxyPort of a real reverse proxy in front of the resources. Without a real proxy, this class acts as the
   * proxy
   */
  constructor(relay: Logins, proxyPort?: number) {
    this.#relay = relay;
    this.#proxyPort = proxyPort;
  }

  /** Sends one request, and keeps its cookies. */
  async open(address: string, headers: Headers = navigation, method = 'GET', body?: string): Promise<Answer> {
    const url = new URL(address);
    this.trail.push(url.href);
    const answer = await this.#send(url, headers, method, body);
    this.set.push(...(answer.headers['set-cookie'] ?? []));
    const kept = (answer.headers['set-cookie'] ?? []).filter((line) =>
      this.keepsCookie(line.slice(0, line.indexOf('=')), url.host),
    );
    this.jar.keep(url, { headers: { 'set-cookie': kept } });
    return answer;
  }

  async #send(url: URL, given: Headers, method: string, body?: string): Promise<Answer> {
    const cookie = this.jar.headerFor(url);
    const headers: Headers = [...given, ...(cookie === '' ? [] : ([['Cookie', cookie]] as Headers))];
    const target = url.pathname + url.search;
    const isOfLogin = url.origin === new URL(this.#relay.address).origin;
    const isOfRelay = isOfLogin || url.pathname.startsWith('/.login-relay/');
    if (isOfRelay || this.#proxyPort !== undefined || this.#relay.check === undefined) {
      const port = isOfLogin ? this.#relay.port : (this.#proxyPort ?? this.#relay.port);
      const path = isOfLogin ? withoutBase(target) : target;
      const sending = { path, method, authority: url.host };
      if (body === undefined) return await request(port, { ...sending, headers });
      const form: Headers = [
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Content-Length', `${Buffer.byteLength(body)}`],
      ];
      return await request(port, { ...sending, headers: [...headers, ...form], body });
    }
    const shown = this.proxyPassesCookies ? headers : given;
    const checked = await this.#relay.check(url.href, shown, { method });
    if (checked.status !== 204) {
      const { 'set-cookie': _, ...others } = checked.headers;
      return this.proxyPassesSetCookie ? checked : { ...checked, headers: others };
    }
    const text = `${checked.headers['x-forwarded-user']} at ${url.pathname}${url.search} with ${checked.headers['cookie']}`;
    return { status: 200, headers: {}, rawHeaders: [], body: Buffer.from(text) };
  }

  /**
   * Opens a stream of an application behind the relay.
   *
   * @returns when its first part has come, so that whatever ends the stream then does not end the request before
   */
  async listen(address: string, headers: Headers): Promise<{ readonly ended: Promise<Answer> }> {
    const url = new URL(address);
    const sent: Headers = [...headers, ['Cookie', this.jar.headerFor(url)]];
    const { promise: hasBegun, resolve: onPart } = Promise.withResolvers<void>();
    const ended = request(this.#relay.port, { path: url.pathname, authority: url.host, headers: sent, onPart });
    await Promise.race([hasBegun, ended]);
    return { ended };
  }

  /** Opens a page, and follows its redirects. The provider grants each login at once. */
  async visit(address: string, headers: Headers = navigation): Promise<Page> {
    let url = new URL(address);
    for (let hops = 0; hops < 20; hops += 1) {
      const { provider: only, providers = [only] } = this.#relay;
      const provider = providers.find((one) => url.href.startsWith(one.authorizeUrl));
      if (provider !== undefined) {
        this.logins += 1;
        this.asked.push(url);
        url = new URL(granted(provider, url));
      }
      const answer = await this.open(url.href, headers);
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status > 399 || location === undefined) {
        return { ...answer, url, text: `${answer.body}` };
      }
      url = new URL(location, url);
    }
    throw new Error(`the redirects do not end: ${this.trail.join(' ')}`);
  }

  /** Sends the form of a page with a button, and follows redirects. */
  async press(page: Page, name: string, value: string, headers = ownForm): Promise<Page> {
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
    const fields = hidden.map(([, field = '', text = '']): [string, string] => [field, text]);
    const [, action = ''] = /<form method="post" action="([^"]*)"/.exec(page.text) ?? [];
    const body = `${new URLSearchParams([...fields, [name, value]])}`;
    const answer = await this.open(new URL(action, page.url).href, headers, 'POST', body);
    const { location } = answer.headers;
    if (location === undefined) return { ...answer, url: page.url, text: `${answer.body}` };
    return await this.visit(new URL(location, page.url).href);
  }

  /** The names of its cookies at an address. */
  cookies(origin: string): Map<string, string> {
    return this.jar.at(new URL(origin).host);
  }
}

/** One relay for the enclosing `describe`. The person is ada before each test. */
export function doorRelay(of: Settings = settings): () => DoorRelay {
  const relay = relayOfFile(() => DoorRelay.start(of));
  beforeEach(() => relay().provider.knows(json(ada)));
  return relay;
}
