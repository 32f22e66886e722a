import type { Agent } from 'node:http';
import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../../src/errors.ts';
import { type Answer, type Sending, send } from '../client/http-client.ts';
import { expectError, expectRedirect } from '../expect/expectations.ts';
import type { StrictProvider } from '../provider/strict-provider.ts';
import { callbackPath, frontendOrigin, loginPath } from '../relay/relay-under-test.ts';
import { type SetCookie, setCookies } from './set-cookies.ts';

type Headers = [name: string, value: string][];

/** The relay that a browser visits, and the provider that it is sent to. */
export interface Target {
  readonly port: number;
  readonly provider: StrictProvider;
}

/** A login that was started: what the relay sent to the provider, and what comes back. */
export interface Login {
  readonly authorizationRequest: URL;
  readonly state: string;
  readonly code: string;
  readonly cookie: { readonly name: string; readonly value: string };
}

/** What Chromium sends when a link of another site leads to the relay. */
export const navigation: Headers = [
  ['Upgrade-Insecure-Requests', '1'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Sec-Fetch-Dest', 'document'],
];

/** The same over plain http beyond this machine, where no `Sec-Fetch-*` is sent. */
export const plainNavigation = navigation.filter(([name]) => !name.startsWith('Sec-Fetch-'));

/** A navigation with one header replaced or added. */
export function navigationWith(name: string, value: string): Headers {
  return [...navigation.filter(([other]) => other !== name), [name, value]];
}

/** A browser as far as a relay can tell: a cookie jar, and the headers of a navigation. */
export class FakeBrowser {
  /** By name, the oldest first, which is the order in which browsers send them. */
  readonly cookies = new Map<string, string>();
  readonly #target: () => Target;
  readonly #agent: Agent | undefined;

  constructor(target: () => Target, agent?: Agent) {
    this.#target = target;
    this.#agent = agent;
  }

  /** Sends the request with the jar's cookies, and keeps what the answer sets. */
  async open(path: string, sending: Partial<Sending> = {}): Promise<Answer> {
    const headers: Headers = [...(sending.headers ?? navigation)];
    const cookies = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    if (cookies !== '') headers.push(['Cookie', cookies]);
    const answer = await send(this.#target().port, {
      ...sending,
      path,
      headers,
      ...(this.#agent && { agent: this.#agent }),
    });
    for (const cookie of setCookies(answer)) this.#keep(cookie);
    return answer;
  }

  /** Starts a login and consents at the provider; the callback is not opened yet. */
  async start(query = ''): Promise<Login> {
    const answer = await this.open(`${loginPath}${query}`);
    const authorizationRequest = expectRedirect(answer);
    const [cookie] = setCookies(answer).filter(({ maxAge }) => maxAge !== '0');
    if (cookie === undefined) throw new Error('the start of a login set no cookie');
    const state = authorizationRequest.searchParams.get('state') ?? '';
    remember(state, cookie.value, authorizationRequest.searchParams.get('code_challenge') ?? '');
    const code = this.#target().provider.authorize(authorizationRequest);
    return { authorizationRequest, state, code, cookie };
  }

  /** Opens the callback of a login, with what is changed about it. */
  async finish(
    { code, state }: { readonly code: string; readonly state: string },
    sending: Partial<Sending> = {},
  ): Promise<Answer> {
    return await this.open(callback({ code, state }), sending);
  }

  #keep({ name, value, maxAge }: SetCookie): void {
    if (maxAge === '0') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The path of the callback with these parameters. */
export function callback(parameters: Readonly<Record<string, string>>): string {
  return `${callbackPath}?${new URLSearchParams(parameters)}`;
}

/** A refusal for this reason, or one of these, before any code was spent. */
export function expectRefusal(
  target: Target,
  answer: Answer,
  ...failures: [FailureCode, ...FailureCode[]]
): void {
  const { status } = new RelayError(failures[0]);
  const details = failures.map((failure) => new RelayError(failure).detail);
  // One failure names the base URL, which not every relay under test has the same.
  const detail = expectError(answer, status).replace(
    /(?<= login) at https?:\/\/[^ ]+(?=, or has)/,
    '',
  );
  expect(detail).to.be.oneOf(details);
  expect(answer.headers).not.to.have.property('location');
  expect(answer.body.toString()).not.to.contain('access_token');
  expect(target.provider.calls).to.deep.equal([]);
}

/** A login that went well: the token that was issued for its code, at the front end. */
export function expectLogin(target: Target, answer: Answer, { code }: { code: string }): URL {
  const location = expectRedirect(answer);
  expect(location.origin).to.equal(frontendOrigin);
  expect(location.searchParams.get('access_token'))
    .to.be.a('string')
    .and.equal(target.provider.tokenFor(code));
  for (const { codeVerifier = '' } of target.provider.calls) remember(codeVerifier);
  expectNoneRemembered(location.href);
  return location;
}

const remembered = new Set<string>();

/** Takes note of what must never be seen in a log. */
export function remember(...secrets: string[]): void {
  for (const secret of secrets) if (secret !== '') remembered.add(secret);
}

/** Fails where a text holds a state, cookie, challenge or verifier that any test has seen. */
export function expectNoneRemembered(text: string): void {
  expect([...remembered].filter((secret) => text.includes(secret))).to.deep.equal([]);
}
