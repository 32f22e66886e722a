import { HttpConnection } from '../load/http-connection.ts';
import { accessTokenOf } from '../provider/records.ts';
import { registration } from '../registration.ts';
import { authorizationRequest } from './authorization-request.ts';
import { cookieHeader } from './cookies.ts';
import { expect, redirection } from './expect.ts';
import type { Workload } from './workload.ts';

/** A browser goes all the way: start, provider, callback, front end with the token. */
export const completeLogin: Workload = {
  name: 'complete-login',
  unit: 'login',
  async user(target) {
    const connection = await HttpConnection.open(target.address);
    const provider = await HttpConnection.open(target.provider);
    return {
      async act() {
        const answers = [await connection.send('GET', target.loginPath)];
        const [started] = answers;
        if (started === undefined) return;
        const { pathname, search } = new URL(authorizationRequest(started, target));
        const authorized = await provider.send('GET', pathname + search);
        let next = redirection(authorized, registration.redirectUri);
        const user = Number(/[?&]code=(\d+)/.exec(next)?.[1]);
        // Some relays come back to their own login path before they hand the token over.
        while (next.startsWith('/') || next.startsWith(registration.baseUrl)) {
          const target = next.replace(registration.baseUrl, '');
          const answer = await connection.send('GET', target, cookieHeader(answers));
          answers.push(answer);
          next = redirection(answer, '');
        }
        const last = answers.at(-1) ?? started;
        redirection(last, registration.frontEnd);
        expect(next.includes(`access_token=${accessTokenOf(user)}`), 'not the token', last);
      },
      leave() {
        connection.close();
        provider.close();
      },
    };
  },
};
