import { type Answer, HttpConnection, headers } from './http-connection.ts';
import { accessTokenOf, recordOf } from './records.ts';
import { registration } from './registration.ts';

/** The server under load. */
export interface Target {
  readonly port: number;
  readonly loginPath: string;
  readonly protection: boolean;
  readonly providerPort: number;
}

/** One of the visitors that make the load, with connections of its own. */
export interface Visitor {
  /** Does the work once. @throws if an answer is not what it has to be */
  act(): Promise<void>;
  leave(): void;
}

/** A kind of load: makes a visitor. */
export type Workload = (target: Target) => Promise<Visitor>;
export type WorkloadName = 'start-login' | 'complete-login' | 'user-lookup';

let user = 0;

export const workloads: Readonly<Record<WorkloadName, Workload>> = {
  /** A browser is sent to the provider. */
  async 'start-login'(target) {
    const connection = await HttpConnection.open(target.port);
    return {
      async act() {
        authorizationRequest(await connection.send('GET', target.loginPath), target);
      },
      leave: () => connection.close(),
    };
  },

  /** A browser goes all the way: start, provider, callback, front end with the token. */
  async 'complete-login'(target) {
    const connection = await HttpConnection.open(target.port);
    const provider = await HttpConnection.open(target.providerPort);
    return {
      async act() {
        const answers = [await connection.send('GET', target.loginPath)] as [Answer, ...Answer[]];
        const { pathname, search } = new URL(authorizationRequest(answers[0], target));
        const authorized = await provider.send('GET', pathname + search);
        let next = redirection(authorized, registration.redirectUri);
        const token = accessTokenOf(Number(/[?&]code=(\d+)/.exec(next)?.[1]));
        // Some come back to their own login path before they hand the token over.
        while (next.startsWith('/') || next.startsWith(registration.baseUrl)) {
          const path = next.replace(registration.baseUrl, '');
          const answer = await connection.send('GET', path, cookieHeader(answers));
          answers.push(answer);
          next = redirection(answer, '');
        }
        const right =
          next.startsWith(registration.frontEnd) && next.includes(`access_token=${token}`);
        expect(right, 'not the token', answers.at(-1));
      },
      leave() {
        connection.close();
        provider.close();
      },
    };
  },

  /** A front end looks a user up; 10,000 users in turn. */
  async 'user-lookup'(target) {
    const connection = await HttpConnection.open(target.port);
    return {
      async act() {
        user = (user + 1) % 10_000;
        const expected = recordOf(user);
        const authorization = `Authorization: Bearer ${accessTokenOf(user)}\r\n`;
        const origin = `Origin: ${registration.frontEnd}\r\n`;
        const answer = await connection.send('GET', '/api/user', origin + authorization);
        expect(answer.status === 200 && answer.body === expected, 'not the record', answer);
      },
      leave: () => connection.close(),
    };
  },
};

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

/** The Cookie header that a browser sends after these answers, if it has cookies. */
function cookieHeader(answers: readonly Answer[]): string {
  const jar = new Map<string, string>();
  for (const cookie of answers.flatMap(({ head }) => headers(head, 'set-cookie'))) {
    const [pair = ''] = cookie.split(';');
    const name = pair.slice(0, pair.indexOf('='));
    if (/; *max-age=0/i.test(cookie)) jar.delete(name);
    else jar.set(name, pair);
  }
  return jar.size === 0 ? '' : `Cookie: ${[...jar.values()].join('; ')}\r\n`;
}

function expect(right: boolean, what: string, answer: Answer | undefined): void {
  if (!right) throw new Error(`${what}:\n${answer?.head}\n${answer?.body}`);
}
