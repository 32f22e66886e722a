import { hash } from 'node:crypto';
import { logInAtDoor } from './door-login.ts';
import { type Answer, cookieHeader, HttpConnection, headers } from './http-connection.ts';
import { accessTokenOf, recordOf, userOf } from './records.ts';
import { doorHost, registration, resourceSecret } from './registration.ts';

/** The server under load. */
export interface Target {
  readonly port: number;
  readonly protection: boolean;
  /** Whether its front end gets no token, and looks users up by the cookie of a session. */
  readonly sessions: boolean;
  readonly providerPort: number;
  /** Whether it gives a token for its resource without a login. */
  readonly grantsTokens: boolean;
  /** The credential that opens its resource. */
  readonly opensBy: 'token' | 'cookie';
}

/** One visitor of the load, with its own connections. */
export interface Visitor {
  /** Runs the workload once. @throws if an answer is wrong */
  act(): Promise<void>;
  leave(): void;
}

/** A kind of load. It makes a visitor. */
export type Workload = (target: Target) => Promise<Visitor>;
export type WorkloadName = keyof typeof workloads;

let user = 0;

export const workloads = {
  /** The start of a login: the redirect to the provider. */
  'start-login': (target) => starts(target, loginPath),

  /** The start of a login of one front end among many. */
  'named-start': (target) => starts(target, `${loginPath}?client_id=app`),

  /** A complete login: start, provider, callback, and the front end with the token. */
  'complete-login': (target) =>
    everyHop(target, loginPath, async (page, token, last) => {
      expect(page.includes(`access_token=${token}`), 'not the token', last);
    }),

  /** A complete login with an OAuth request. The front end gets a code and redeems it. */
  'oauth-login': (target) =>
    everyHop(target, loginPath + oauthRequest, async (page, token, _, connection) => {
      await redeem(connection, page, token);
    }),

  /** A complete login with an OAuth request, and one refresh. */
  refresh: (target) =>
    everyHop(target, loginPath + oauthRequest, async (page, token, _, connection) => {
      const { body } = await redeem(connection, page, token);
      const refreshToken = /"refresh_token":"([^"]*)/.exec(body)?.[1];
      const form = `grant_type=refresh_token&client_id=app&refresh_token=${refreshToken}`;
      await requestToken(connection, form, token);
    }),

  /** A user lookup: of 10,000 users in turn by their tokens, or of each visitor by the cookie of a session. */
  async 'user-lookup'(target) {
    if (target.sessions) return await lookUpByCookie(target);
    return await lookUps(target, () => {
      user = (user + 1) % 10_000;
      return { user, credential: `Authorization: Bearer ${accessTokenOf(user)}\r\n` };
    });
  },
  /** A reverse proxy asks whether a token, or the cookie of a browser, opens a resource. */
  'resource-check': (target) =>
    atDoor(target, async (connection, credential) => {
      const answer = await connection.send('GET', '/auth/check/notes', askedRequest + credential);
      expect(answer.status === 200 || answer.status === 204, 'not good', answer);
    }),

  /** A program calls a tool of a server behind the gateway. */
  gateway: (target) =>
    atDoor(target, async (connection, credential) => {
      const type = `Content-Type: application/json\r\nContent-Length: ${toolCall.length}\r\n`;
      const headers = `${credential}Accept: application/json\r\n${type}`;
      const answer = await connection.send('POST', '/mcp', headers, toolCall);
      expect(answer.body === toolCall, 'not the answer', answer);
    }),

  /** A program gets a small answer through the gateway. */
  'gateway-1kB': (target) => downloads(target, 1_000),

  /** A program gets a large answer through the gateway. */
  'gateway-1MiB': (target) => downloads(target, 1024 * 1024),

  /** The server of a resource asks who has a token. */
  introspection: (target) =>
    atDoor(target, async (connection, _, token) => {
      const form = `client_id=notes&client_secret=${resourceSecret}&token=${token}`;
      const headers = `${formType}Content-Length: ${form.length}\r\n`;
      const answer = await connection.send('POST', `${loginPath}/introspect`, headers, form);
      expect(answer.body.startsWith('{"active":true'), 'not active', answer);
    }),
} satisfies Readonly<Record<string, Workload>>;

const toolCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"text":"${'x'.repeat(200)}"}}`;
const loginPath = '/auth/provider';
const verifier = 'v'.repeat(43);
const challenge = hash('sha256', verifier, 'base64url');
const oauthRequest = `?response_type=code&client_id=app&state=${'s'.repeat(22)}&code_challenge=${challenge}&code_challenge_method=S256`;
const formType = 'Content-Type: application/x-www-form-urlencoded\r\n';
const formHeaders = `Origin: ${registration.frontEnd}\r\n${formType}`;

/** @param token what the answer must have */
function redeem(connection: HttpConnection, page: string, token: string): Promise<Answer> {
  const code = /[?&]code=([^&]*)/.exec(page)?.[1];
  const form = `grant_type=authorization_code&client_id=app&code_verifier=${verifier}&code=${code}`;
  return requestToken(connection, form, token);
}

function downloads(target: Target, length: number): Promise<Visitor> {
  const act = async (connection: HttpConnection, credential: string) => {
    const answer = await connection.send('GET', `/mcp/${length}`, credential);
    expect(answer.body.length === length, 'not the answer', answer);
  };
  return atDoor(target, act, target.opensBy === 'cookie' ? doorHost : undefined);
}

/** The headers with which a reverse proxy describes a request to the check. */
const askedRequest = 'X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /page?number=1\r\n';
/** The headers of a browser when a person opens a page. */
const opensPage = 'Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n';

/**
 * The credential from one login at the door of each contender, by its port. The measured requests need no further
 * login.
 */
const credentials = new Map<number, Promise<string>>();

/**
 * A program, or a browser, that has logged in at the door.
 *
 * @param host where it sends its requests; without it, to the host of the login, as a reverse proxy asks a check
 */
async function atDoor(
  target: Target,
  act: (connection: HttpConnection, credential: string, token: string) => Promise<void>,
  host?: string,
): Promise<Visitor> {
  const isBrowser = target.opensBy === 'cookie';
  const known = credentials.get(target.port) ?? (isBrowser ? logInAtDoor(target, opensPage) : resourceToken(target));
  credentials.set(target.port, known);
  const given = await known;
  const credential = isBrowser ? opensPage + given : `Authorization: Bearer ${given}\r\n`;
  const connection = await HttpConnection.open(target.port, host);
  return { act: () => act(connection, credential, given), leave: () => connection.close() };
}

/** A token for the resource. */
export async function resourceToken(target: Target): Promise<string> {
  if (target.grantsTokens) {
    const connection = await HttpConnection.open(target.port);
    const { body } = await connection.send('GET', '/own-token');
    connection.close();
    return body;
  }
  let token = '';
  const login = await loginForResource(target, (given) => {
    token = given;
  });
  await login.act();
  login.leave();
  return token;
}

/** A complete login for the resource. @param onToken gets its access token */
export function loginForResource(target: Target, onToken: (token: string) => void = () => {}): Promise<Visitor> {
  return everyHop(target, loginPath + oauthRequest, async (page, _token, _last, by) => {
    const { body } = await redeem(by, page, 'identity');
    onToken(/"access_token":"([^"]*)/.exec(body)?.[1] ?? '');
  });
}

async function requestToken(connection: HttpConnection, form: string, token: string): Promise<Answer> {
  const headers = `${formHeaders}Content-Length: ${form.length}\r\n`;
  const answer = await connection.send('POST', `${loginPath}/token`, headers, form);
  expect(answer.status === 200 && answer.body.includes(`"${token}"`), 'not the token', answer);
  return answer;
}

async function starts(target: Target, start: string): Promise<Visitor> {
  const connection = await HttpConnection.open(target.port);
  return {
    async act() {
      authorizationRequest(await connection.send('GET', start), target);
    },
    leave: () => connection.close(),
  };
}

async function lookUpByCookie(target: Target): Promise<Visitor> {
  let credential = '';
  let own = Number.NaN;
  const login = await everyHop(target, loginPath, async (_page, token, last) => {
    credential = `X-Login-Relay: 1\r\n${cookieHeader([last])}`;
    own = userOf(token);
  });
  await login.act();
  login.leave();
  return await lookUps(target, () => ({ user: own, credential }));
}

/** @param next the user to look up, and the header lines that authorize it */
async function lookUps(
  target: Target,
  next: () => { readonly user: number; readonly credential: string },
): Promise<Visitor> {
  const connection = await HttpConnection.open(target.port);
  return {
    async act() {
      const { user, credential } = next();
      const expected = recordOf(user);
      const origin = `Origin: ${registration.frontEnd}\r\n`;
      const answer = await connection.send('GET', '/api/user', origin + credential);
      expect(answer.status === 200 && answer.body === expected, 'not the record', answer);
      const [allowed] = headers(answer.head, 'access-control-allow-origin');
      expect(allowed === registration.frontEnd, 'not readable for the front end', answer);
    },
    leave: () => connection.close(),
  };
}

/** Follows the redirects from the start of a login to the front end. */
async function everyHop(
  target: Target,
  start: string,
  arrive: (page: string, token: string, last: Answer, by: HttpConnection) => Promise<void>,
): Promise<Visitor> {
  const connection = await HttpConnection.open(target.port);
  const provider = await HttpConnection.open(target.providerPort);
  return {
    async act() {
      let answer = await connection.send('GET', start);
      const answers = [answer];
      const { pathname, search } = new URL(authorizationRequest(answer, target));
      const authorized = await provider.send('GET', pathname + search);
      let next = redirection(authorized, registration.redirectUri);
      const token = accessTokenOf(Number(/[?&]code=(\d+)/.exec(next)?.[1]));
      // Some contenders redirect to their own login path before they deliver the token.
      while (next.startsWith('/') || next.startsWith(registration.baseUrl)) {
        const path = next.replace(registration.baseUrl, '');
        answer = await connection.send('GET', path, cookieHeader(answers));
        answers.push(answer);
        next = redirection(answer, '');
      }
      expect(next.startsWith(registration.frontEnd), 'not the front end', answer);
      await arrive(next, token, answer, connection);
    },
    leave() {
      connection.close();
      provider.close();
    },
  };
}

function authorizationRequest(answer: Answer, { providerPort, protection }: Target): string {
  const url = redirection(answer, `http://127.0.0.1:${providerPort}/authorize?`);
  for (const part of [
    'response_type=code',
    `client_id=${registration.clientId}`,
    `redirect_uri=${encodeURIComponent(registration.redirectUri)}`,
    ...(protection ? ['state=', 'code_challenge=', 'code_challenge_method=S256'] : []),
  ]) {
    expect(url.includes(part), `no ${part}`, answer);
  }
  const protects = cookieHeader([answer]) !== '';
  expect(protects === protection, 'a protecting cookie, or none', answer);
  return url;
}

function redirection(answer: Answer, destination: string): string {
  const [location = ''] = headers(answer.head, 'location');
  const redirects = answer.status >= 302 && answer.status <= 308;
  expect(redirects && location.startsWith(destination), `no redirect to ${destination}`, answer);
  return location;
}

function expect(right: boolean, what: string, answer: Answer | undefined): void {
  if (!right) throw new Error(`${what}:\n${answer?.head}\n${answer?.body}`);
}
