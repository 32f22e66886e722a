import type { Answer } from '../load/http-connection.ts';
import { registration } from '../registration.ts';
import { cookieHeader } from './cookies.ts';
import { expect, redirection } from './expect.ts';
import type { Target } from './workload.ts';

const required = [
  'response_type=code',
  `client_id=${registration.clientId}`,
  `redirect_uri=${encodeURIComponent(registration.redirectUri)}`,
];
const protective = ['state=', 'code_challenge=', 'code_challenge_method=S256'];

/** Where a started login sends the browser. @throws {WrongAnswer} */
export function authorizationRequest(answer: Answer, { provider, protection }: Target): string {
  const url = redirection(answer, `http://127.0.0.1:${provider.port}/authorize?`);
  for (const part of protection ? [...required, ...protective] : required) {
    expect(url.includes(part), `no ${part}`, answer);
  }
  const cookies = cookieHeader([answer]);
  expect(protection === (cookies !== ''), 'a cookie that protects the login, or none', answer);
  return url;
}
