import { HttpConnection, header } from '../load/http-connection.ts';
import { registration } from '../registration.ts';
import { expect } from './expect.ts';
import type { Workload } from './workload.ts';

const headers = [
  `Origin: ${registration.frontEnd}`,
  'Access-Control-Request-Method: GET',
  'Access-Control-Request-Headers: authorization',
]
  .map((line) => `${line}\r\n`)
  .join('');

/** A browser asks whether the front end may look a user up. */
export const preflight: Workload = {
  name: 'preflight',
  unit: 'request',
  async user(target) {
    const connection = await HttpConnection.open(target.address);
    return {
      async act() {
        const answer = await connection.send('OPTIONS', target.userPath, headers);
        const { status, head } = answer;
        const allowed = header(head, 'access-control-allow-origin') === registration.frontEnd;
        expect(allowed && (status === 204 || status === 200), 'not allowed', answer);
      },
      leave: () => connection.close(),
    };
  },
};
