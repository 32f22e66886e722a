import { HttpConnection } from '../load/http-connection.ts';
import { accessTokenOf, recordOf } from '../provider/records.ts';
import { registration } from '../registration.ts';
import { expect } from './expect.ts';
import type { Workload } from './workload.ts';

const users = 10_000;
let turn = 0;

/** A front end looks a user up; 10,000 users in turn. */
export const userLookup: Workload = {
  name: 'user-lookup',
  unit: 'request',
  async user(target) {
    const connection = await HttpConnection.open(target.address);
    return {
      async act() {
        const user = turn;
        turn = (turn + 1) % users;
        const headers = `Origin: ${registration.frontEnd}\r\nAuthorization: Bearer ${accessTokenOf(user)}\r\n`;
        const answer = await connection.send('GET', target.userPath, headers);
        expect(answer.status === 200, 'not 200', answer);
        expect(answer.body === recordOf(user), 'not the record', answer);
      },
      leave: () => connection.close(),
    };
  },
};
