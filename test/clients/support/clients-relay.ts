import { type FakeBrowser, granted, navigationWith } from '../../harness/browser/fake-browser.ts';
import { type Answer, request, type Sending } from '../../harness/client/request.ts';
import { encoded, type OAuthStart, oauthStart, type Parameters } from '../../harness/login/oauth-front-end.ts';
import { RelayOfFile, relayOfFile, type Settings } from '../../harness/relay/relay-of-file.ts';
import { loginPath } from '../../harness/relay/relay-under-test.ts';

type Headers = readonly (readonly [name: string, value: string])[];

/** The question to a person at the start of a login, and the start. */
export interface Question {
  readonly page: Answer;
  readonly text: string;
  readonly token: string;
  readonly browser: FakeBrowser;
  readonly start: OAuthStart;
}

export class ClientsRelay extends RelayOfFile {
  static async start(settings: Settings): Promise<ClientsRelay> {
    const relay = await ClientsRelay.listen();
    await relay.restart(settings);
    return relay;
  }

  async send(sending: Sending): Promise<Answer> {
    return await request(this.port, sending);
  }

  /** The answer to a preflight of a page. */
  async preflight(path: string, origin = 'https://any.example'): Promise<Answer> {
    const headers: [string, string][] = [
      ['Origin', origin],
      ['Access-Control-Request-Method', 'POST'],
    ];
    return await this.send({ method: 'OPTIONS', path, headers });
  }

  /** Sends a form or JSON to an endpoint of the registration. */
  async post(
    endpoint: string,
    body: Parameters | string,
    headers: Headers = [],
    browser?: FakeBrowser,
  ): Promise<Answer> {
    const isJson = typeof body === 'string';
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
    const text = isJson ? body : encoded(body);
    const path = `${loginPath}/${endpoint}`;
    const all = [['Content-Type', type], ['Content-Length', `${Buffer.byteLength(text)}`], ...headers].map(
      ([name = '', value = '']): [string, string] => [name, value],
    );
    const sending = { method: 'POST', path, headers: all, body: text };
    return await (browser ? browser.open(this.address + path, sending) : this.send(sending));
  }

  /** Opens the start of a login. */
  async open(browser: FakeBrowser, parameters: Parameters): Promise<Answer> {
    return await browser.open(`${this.address}${loginPath}?${encoded(parameters)}`);
  }

  /** Redeems a code. */
  async redeem(
    { parameters, codeVerifier }: OAuthStart,
    code: string,
    changes: Parameters = {},
    headers: Headers = [],
  ): Promise<Answer> {
    const { client_id, redirect_uri } = parameters;
    const form = { grant_type: 'authorization_code', client_id, redirect_uri, code };
    return await this.post('token', { ...form, code_verifier: codeVerifier, ...changes }, headers);
  }

  async refresh(client_id: string, refresh_token: string, headers: Headers = []): Promise<Answer> {
    const grant_type = 'refresh_token';
    return await this.post('token', { grant_type, client_id, refresh_token }, headers);
  }

  /** A whole login of a client that needs no consent: its start, and the code that it gets. */
  async logIn(changes: Parameters): Promise<{ start: OAuthStart; code: string; location: URL }> {
    const start = oauthStart(changes);
    const browser = this.browser();
    const asked = locationOf(await this.open(browser, start.parameters));
    const location = locationOf(await browser.open(granted(this.provider, asked)));
    return { start, code: location.searchParams.get('code') ?? '', location };
  }

  /** Starts a login of a client that needs consent. */
  async ask(changes: Parameters, browser = this.browser()): Promise<Question> {
    const start = oauthStart({ redirect_uri: loopback, ...changes });
    const page = await this.open(browser, start.parameters);
    return { page, text: `${page.body}`, ...questionIn(page, browser), start };
  }

  /** Sends the answer of the person. */
  async decide(
    { browser, token }: ReturnType<typeof questionIn>,
    decision = 'confirmed',
    headers: Headers = navigationWith('Sec-Fetch-Site', 'same-origin'),
  ): Promise<Answer> {
    return await this.post('consent', { consent: token, decision }, headers, browser);
  }

  /**
   * Acts as the person from the start of a login to its end: consents at the relay, if it asks, and at the provider.
   */
  async visit(start: string): Promise<URL> {
    const browser = this.browser();
    const page = await browser.open(start);
    const answer = page.status === 200 ? await this.decide(questionIn(page, browser)) : page;
    return locationOf(await browser.open(granted(this.provider, locationOf(answer))));
  }

  /** Lets the person and the provider agree, and returns what the client gets at its redirect URI. */
  async agree(question: Question): Promise<{ back: URL; code: string }> {
    const asked = locationOf(await this.decide(question));
    const back = locationOf(await question.browser.open(granted(this.provider, asked)));
    return { back, code: back.searchParams.get('code') ?? '' };
  }
}

/** The requests of a page. With an empty token, it sends none. */
function questionIn({ body }: Answer, browser: FakeBrowser) {
  return { browser, token: /name="consent" value="([^"]*)"/.exec(`${body}`)?.[1] ?? '' };
}

/** The redirect URI of the clients that need consent. */
export const loopback = 'http://127.0.0.1:4000/callback';

/** The target of a redirect. */
export function locationOf({ status, headers, body }: Answer): URL {
  const { location } = headers;
  if (status < 300 || status > 399 || location === undefined) {
    throw new Error(`no redirect, but ${status}: ${body}`);
  }
  return new URL(location);
}

/** The JSON of an answer. */
export function jsonOf({ body }: Answer): Readonly<Record<string, unknown>> {
  return JSON.parse(`${body}`);
}

/** One relay for the enclosing `describe`. Its provider behaves well before each test. */
export const clientsRelay = (settings: () => Settings | Promise<Settings>) =>
  relayOfFile(async () => ClientsRelay.start(await settings()));
