import { HttpConnection } from '../load/http-connection.ts';
import { authorizationRequest } from './authorization-request.ts';
import type { Workload } from './workload.ts';

/** A browser is sent to the provider. */
export const startLogin: Workload = {
  name: 'start-login',
  unit: 'request',
  async user(target) {
    const connection = await HttpConnection.open(target.address);
    return {
      async act() {
        authorizationRequest(await connection.send('GET', target.loginPath), target);
      },
      leave: () => connection.close(),
    };
  },
};
