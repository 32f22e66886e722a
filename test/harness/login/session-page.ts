import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../../src/failures/relay-error.ts';
import { type Consenting, FakeBrowser, granted } from '../browser/fake-browser.ts';
import type { Answer, Sending } from '../client/http-client.ts';
import { remember } from '../expect/canaries.ts';
import { expectRedirect } from '../expect/expectations.ts';
import type { Flags } from '../relay/relay-process.ts';
import { baseUrl, keyFile, loginPath, userPath } from '../relay/relay-under-test.ts';

/** The front end's origin, which is a sibling of the relay's origin. */
export const sessionOrigin = 'https://app.relay.example';
/** The name of its cookie, without the number of a piece. */
export const sessionCookie = '__Host-Http-lr_session_app';

/** The flags of a relay whose only front end has sessions. */
export async function sessionFlags(): Promise<Flags> {
  return { origin: sessionOrigin, 'token-delivery': 'session', 'key-file': await keyFile() };
}

/** The data of its session that a page may know. */
export interface SessionDescription {
  readonly provider: string;
  readonly expires_in?: number;
  readonly renewable: boolean;
}

/** The changes to a request of a page. A header that is undefined is not sent. */
export interface SessionRequest {
  readonly origin?: string | undefined;
  readonly header?: string | undefined;
  readonly site?: string | undefined;
  readonly host?: string;
  readonly cookie?: string;
  readonly headers?: [name: string, value: string][];
  readonly signal?: AbortSignal;
}

/** A page of a front end that holds no token, in its own browser. */
export class SessionPage {
  readonly browser: FakeBrowser;
  readonly #provider: Consenting;
  readonly #relay: () => { readonly port: number };

  constructor(relay: () => { readonly port: number }, provider: Consenting) {
    this.#relay = relay;
    this.#provider = provider;
    this.browser = new FakeBrowser(relay);
  }

  /** The session's cookies, as a `Cookie` header has them. */
  get cookie(): string {
    const cookies = [...this.browser.cookies].filter(([name]) => name.includes('lr_session_'));
    return cookies.map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Logs in. Returns the page that the login ends at. */
  async logIn(start = loginPath): Promise<URL> {
    return expectRedirect(await this.finishLogin(start));
  }

  /** Logs in, and returns the answer to the callback. */
  async finishLogin(start = loginPath): Promise<Answer> {
    const request = expectRedirect(await this.browser.open(start));
    const answer = await this.browser.open(granted(this.#provider, request));
    this.#remember(request.searchParams.get('state') ?? '');
    return answer;
  }

  /** Sends a request of the page, with the browser's cookies. */
  async send(path: string, method = 'GET', request: SessionRequest = {}): Promise<Answer> {
    const { headers = [], host = new URL(baseUrl).host, cookie, signal } = request;
    const given = { origin: sessionOrigin, header: '1', site: 'same-site', ...request };
    const own: [string, string | undefined][] = [
      ['Origin', given.origin],
      ['X-Login-Relay', given.header],
      ['Sec-Fetch-Site', given.site],
    ];
    const sent = own.filter((pair): pair is [string, string] => pair[1] !== undefined);
    const sending: Partial<Sending> = {
      method,
      headers: [...sent, ...headers],
      authority: host,
      ...(signal && { signal }),
    };
    if (cookie === undefined) {
      const answer = await this.browser.open(path, sending);
      this.#remember();
      return answer;
    }
    const other = new FakeBrowser(this.#relay);
    return await other.open(path, {
      ...sending,
      headers: [...(sending.headers ?? []), ['Cookie', cookie]],
    });
  }

  async describe(request?: SessionRequest): Promise<Answer> {
    return await this.send('/auth/session', 'GET', request);
  }

  async refresh(request?: SessionRequest): Promise<Answer> {
    return await this.send('/auth/session/refresh', 'POST', request);
  }

  async logOut(request?: SessionRequest): Promise<Answer> {
    return await this.send('/auth/logout', 'POST', request);
  }

  async lookUp(request?: SessionRequest): Promise<Answer> {
    return await this.send(userPath, 'GET', request);
  }

  #remember(...more: string[]): void {
    remember(...more, ...this.browser.cookies.values());
  }
}

/** The description in a successful answer. */
export function sessionOf({ status, body }: Answer): SessionDescription {
  expect(status, `${body}`).to.equal(200);
  return JSON.parse(`${body}`);
}

/** Checks for a failure of an endpoint of sessions, as pages read it. */
export function expectSessionFailure(
  { status, body, headers }: Answer,
  code: FailureCode,
  detail: string = new RelayError(code).detail,
): void {
  const failure = new RelayError(code);
  expect(status, `${body}`).to.equal(failure.status);
  expect(JSON.parse(`${body}`)).to.deep.equal({ error: code, detail });
  for (const [name, value] of Object.entries(failure.headers)) {
    expect(headers[name.toLowerCase()], name).to.equal(value);
  }
}
