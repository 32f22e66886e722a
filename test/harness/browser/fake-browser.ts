import type { Agent } from 'node:http';
import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../../src/failures/relay-error.ts';
import { type Answer, type Sending, send } from '../client/http-client.ts';
import { request } from '../client/request.ts';
import { expectNoneRemembered, remember } from '../expect/canaries.ts';
import { expectError, expectRedirect } from '../expect/expectations.ts';
import type { StrictProvider } from '../provider/strict-provider.ts';
import { baseUrl, callbackPath, frontendOrigin, loginPath } from '../relay/relay-under-test.ts';
import { withoutBase } from '../system/variant.ts';
import { CookieJar, setCookies } from './cookie-jar.ts';

type Headers = [name: string, value: string][];

/** A provider that grants every login. */
export interface Consenting {
  /** @returns the code for an authorization request */
  authorize(authorizationRequest: URL): string;
}

/** The relay that a browser visits, and the provider that it is sent to. */
export interface Target {
  readonly port: number;
  readonly provider: StrictProvider;
}

/** A login that was started: the authorization request, and the provider's response. */
export interface Login {
  readonly authorizationRequest: URL;
  readonly state: string;
  readonly code: string;
  readonly cookie: { readonly name: string; readonly value: string };
}

/** The headers of Chromium for a link from another site to the relay. */
export const navigation: Headers = [
  ['Upgrade-Insecure-Requests', '1'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Sec-Fetch-Dest', 'document'],
];

/** The headers of Chromium over plain http to another machine, where it sends no `Sec-Fetch-*`. */
export const plainNavigation = navigation.filter(([name]) => !name.startsWith('Sec-Fetch-'));

/** A navigation with one header replaced or added. */
export function navigationWith(name: string, value: string): Headers {
  return [...navigation.filter(([other]) => other !== name), [name, value]];
}

/** The page at the end of all redirects. */
export interface Page extends Answer {
  readonly url: URL;
}

/** A relay without its address; its provider is needed to `start` a login. */
type Relay = () => { readonly port: number; readonly provider?: StrictProvider };

const noRelay: Relay = () => {
  throw new Error('this browser knows no relay');
};

interface BrowserOptions {
  readonly agent?: Agent | undefined;
  /** Ports of this machine that represent other origins. */
  readonly places?: Readonly<Record<string, number>>;
  /** The origin where logins end; every page of it is empty. */
  readonly frontEnd?: string;
}

/** An HTTP client that looks like a browser: cookies, the headers of a navigation, redirects, forms. */
export class FakeBrowser {
  /** The relay's cookies by name, the oldest first, as browsers send them. */
  readonly cookies: Map<string, string>;
  /** Every address that `visit` opened, in order. */
  readonly trail: URL[] = [];
  /** Changes an address before `visit` opens it, like an attacker in between. */
  detour: (url: URL) => void = () => {};
  readonly #relay: Relay;
  readonly #options: BrowserOptions;
  readonly #jar = new CookieJar();

  /** @param relay the relay that answers at `baseUrl` */
  constructor(relay: Relay = noRelay, options: BrowserOptions = {}) {
    this.#relay = relay;
    this.#options = options;
    this.cookies = this.#jar.at(new URL(baseUrl).host);
  }

  /** Sends one request with the jar's cookies, and stores the cookies of the answer. A path belongs to the relay. */
  async open(address: string, sending: Partial<Sending> = {}): Promise<Answer> {
    const url = new URL(address.startsWith('/') ? baseUrl : address);
    const headers: Headers = [...(sending.headers ?? navigation)];
    const cookies = this.#jar.headerFor(url);
    if (cookies !== '') headers.push(['Cookie', cookies]);
    const { agent, places = {} } = this.#options;
    const path = address.startsWith('/') ? address : withoutBase(url.pathname + url.search);
    const complete = { ...sending, path, headers, agent };
    const answer =
      url.origin === relayOrigin
        ? await send(this.#relay().port, complete)
        : await request(places[url.origin] ?? Number(url.port), {
            ...complete,
            authority: url.host,
          });
    this.#jar.keep(url, answer);
    return answer;
  }

  /** Opens an address, and follows redirects. */
  async visit(address: string, sending: Partial<Sending> = {}): Promise<Page> {
    let url = new URL(address, baseUrl);
    let next = sending;
    for (let hops = 0; hops < 20; hops += 1) {
      this.detour(url);
      this.trail.push(new URL(url));
      if (url.origin === (this.#options.frontEnd ?? frontendOrigin)) {
        return { url, status: 200, headers: {}, rawHeaders: [], body: Buffer.alloc(0) };
      }
      const answer = await this.open(url.href, next);
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status > 399 || location === undefined) {
        return { ...answer, url };
      }
      url = new URL(location, url);
      next = {};
    }
    throw new Error(`the redirects do not end: ${this.trail.join(' ')}`);
  }

  /** Sends the page's form with these fields and its hidden fields. */
  async submit({ url, body }: Page, fields: Readonly<Record<string, string>> = {}): Promise<Page> {
    const form = /<form[^>]*>/.exec(`${body}`)?.[0];
    if (form === undefined) throw new Error(`no form on the page: ${body}`);
    const hidden = `${body}`.match(/<input[^>]*type="hidden"[^>]*>/g) ?? [];
    const own = hidden.map((input) => [attribute(input, 'name'), attribute(input, 'value')]);
    const target = new URL(attribute(form, 'action'), url);
    const site = target.origin === url.origin ? 'same-origin' : 'cross-site';
    const headers = navigationWith('Sec-Fetch-Site', site);
    const content = { ...Object.fromEntries(own), ...fields };
    return await this.visit(target.href, formWith(content, headers));
  }

  /** The last address at this origin and path that was visited. */
  visited(address: string): URL {
    const found = this.trail.findLast(({ origin, pathname }) => origin + pathname === address);
    if (found === undefined) throw new Error(`${address} was not visited: ${this.trail.join(' ')}`);
    return found;
  }

  /** Starts a login and consents at the provider. It does not open the callback. */
  async start(query = '', sending: Partial<Sending> = {}): Promise<Login> {
    const answer = await this.open(`${loginPath}${query}`, sending);
    const authorizationRequest = expectRedirect(answer);
    const [cookie] = setCookies(answer).filter(({ maxAge }) => maxAge !== '0');
    if (cookie === undefined) throw new Error('the start of a login set no cookie');
    const state = authorizationRequest.searchParams.get('state') ?? '';
    remember(state, cookie.value, authorizationRequest.searchParams.get('code_challenge') ?? '');
    const code = this.#relay().provider?.authorize(authorizationRequest) ?? '';
    return { authorizationRequest, state, code, cookie };
  }

  /** Starts a login, which this provider grants. Returns the address of the callback. */
  async consent(provider: Consenting, start = loginPath): Promise<string> {
    return granted(provider, expectRedirect(await this.open(start)));
  }

  /** Opens the callback of a login, with changes. */
  async finish(
    { code, state }: { readonly code: string; readonly state: string },
    sending: Partial<Sending> = {},
  ): Promise<Answer> {
    return await this.open(callback({ code, state }), sending);
  }
}

/** A form that a page sends. */
export function formWith(fields: Readonly<Record<string, string>>, headers: Headers = navigation): Partial<Sending> {
  return {
    method: 'POST',
    headers: [...headers, ['Content-Type', 'application/x-www-form-urlencoded']],
    body: `${new URLSearchParams(fields)}`,
  };
}

const relayOrigin = new URL(baseUrl).origin;

function attribute(tag: string, name: string): string {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
}

/** The address of the callback that a provider leads to when it grants the request. */
export function granted(provider: Consenting, request: URL): string {
  const state = request.searchParams.get('state') ?? '';
  return `${request.searchParams.get('redirect_uri')}?${new URLSearchParams({ code: provider.authorize(request), state })}`;
}

/** The path of the callback with these parameters. */
export function callback(parameters: Readonly<Record<string, string>>): string {
  return `${callbackPath}?${new URLSearchParams(parameters)}`;
}

/** Checks for a refusal with this failure, or one of these, without a call to the provider. */
export function expectRefusal(target: Target, answer: Answer, ...failures: [FailureCode, ...FailureCode[]]): void {
  const { status } = new RelayError(failures[0]);
  const details = failures.map((failure) => new RelayError(failure).detail);
  // The text of one failure names the base URL, which differs between tests.
  const detail = expectError(answer, status).replace(/(?<= login) at https?:\/\/[^ ]+(?=, or has)/, '');
  expect(detail).to.be.oneOf(details);
  expect(answer.headers).not.to.have.property('location');
  expect(answer.body.toString()).not.to.contain('access_token');
  expect(target.provider.calls).to.deep.equal([]);
}

/** Checks that the login succeeded, and that the front end got the token for its code. */
export function expectLogin(target: Target, answer: Answer, { code }: { code: string }): URL {
  const location = expectRedirect(answer);
  expect(location.origin).to.equal(frontendOrigin);
  expect(location.searchParams.get('access_token')).to.be.a('string').and.equal(target.provider.tokenFor(code));
  for (const { codeVerifier = '' } of target.provider.calls) remember(codeVerifier);
  expectNoneRemembered(location.href);
  return location;
}
