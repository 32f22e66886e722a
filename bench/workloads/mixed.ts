import { completeLogin } from './complete-login.ts';
import { preflight } from './preflight.ts';
import { startLogin } from './start-login.ts';
import { userLookup } from './user-lookup.ts';
import type { Workload } from './workload.ts';

// A page's life: many lookups, their preflights now and then, few logins, some never finished.
const turns = [
  completeLogin,
  userLookup,
  userLookup,
  preflight,
  userLookup,
  userLookup,
  startLogin,
  userLookup,
  preflight,
];

/** Everything, ten requests in nine turns: a login is two. */
export const mixed: Workload = {
  name: 'mixed',
  unit: 'turn',
  async user(target) {
    const users = await Promise.all(turns.map((workload) => workload.user(target)));
    let turn = 0;
    return {
      async act() {
        const user = users[turn];
        turn = (turn + 1) % turns.length;
        await user?.act();
      },
      leave() {
        for (const user of users) user.leave();
      },
    };
  },
};
