import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../src/failures/relay-error.ts';
import type { FrontEndRefresh } from '../../src/grants/refresh-chain.ts';
import { createRefreshes, type Refreshes } from '../../src/grants/refresh-once.ts';
import type { RefreshGrant } from '../../src/oauth/token-request.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { sharedHome } from '../harness/system/shared-home.ts';

const minute = 60_000;
const keys = [randomBytes(32)] as const;
const refresh: FrontEndRefresh = {
  login: 'login',
  owner: ['r', 'f'],
  refreshToken: 'first',
  scope: undefined,
};
const fails = (code: FailureCode) => async () => {
  throw new RelayError(code);
};
const passes = async () => {};

describe('two relays with a shared memory, while nobody says who may log in', () => {
  let server: MemoryServerHere;
  let homes: Awaited<ReturnType<typeof sharedHome>>[];
  let relays: Refreshes[];
  let ahead: number;
  let used: string[];

  beforeEach('start the server and the relays', async () => {
    server = await MemoryServerHere.start();
    used = [];
    ahead = 0;
    const now = () => Date.now() + ahead;
    const fail = (why: string) => expect.fail(why);
    const start = () => sharedHome(server.address, keys, { now, fail });
    homes = [await start(), await start()];
    relays = homes.map((home) => createRefreshes(home));
  });
  afterEach('stop them', async () => {
    await Promise.all(homes.map((one) => one.close()));
    await server.stop();
  });

  /** A provider that rotates refresh tokens, and takes each once. */
  async function call({ refreshToken: given }: RefreshGrant) {
    if (used.includes(given)) throw new RelayError('refresh_refused');
    used.push(given);
    const refreshToken = `${used.length + 1}.`;
    const unsaid = { tokenType: undefined, refreshExpiresIn: undefined, scope: undefined };
    return { ...unsaid, accessToken: 'access', refreshToken, expiresIn: 3600 };
  }

  function pass(minutes: number): void {
    ahead += minutes * minute;
    for (const value of server.values.values()) value.end -= minutes * minute;
  }

  async function refreshAt(relay: number, check: () => Promise<void>, refreshToken = 'first') {
    const result = relays[relay]?.refreshOnce({ ...refresh, refreshToken }, call, undefined, check);
    return await result?.catch((error: RelayError) => error.code);
  }

  it('keep for each other what a refresh gave', async () => {
    expect(await refreshAt(0, fails('access_unchecked'))).to.equal('access_unchecked');
    pass(20);
    expect(await refreshAt(1, fails('access_unchecked'))).to.equal('access_unchecked');
    pass(20);
    const given = await refreshAt(1, passes);
    expect(given).to.include({ accessToken: 'access', refreshToken: '2.' });
    expect(Object(given).expiresIn).to.be.within(1100, 1200);
    expect(used).to.deep.equal(['first']);
  });

  for (const other of ['another page', 'another relay'] as const) {
    it(`keep nothing that ${other} has replaced`, async () => {
      await refreshAt(0, passes);
      // The result is repeated for its own refresh token, and the provider does not know its access token any more.
      expect(await refreshAt(0, fails('token_invalid'), '2.')).to.equal('token_invalid');
      await (other === 'another page' ? refreshAt(0, passes) : refreshAt(1, passes, '2.'));
      expect(await refreshAt(0, passes, '2.')).to.include({ refreshToken: '3.' });
      expect(used).to.deep.equal(['first', '2.']);
    });
  }

  for (const end of ['a logout', 'a no'] as const) {
    it(`keep nothing after ${end}`, async () => {
      await refreshAt(0, fails('access_unchecked'));
      pass(20);
      if (end === 'a logout') expect(await relays[1]?.endAndTakeNewest(refresh)).to.include({ refreshToken: '2.' });
      else expect(await refreshAt(1, fails('access_refused'))).to.equal('access_refused');
      expect(await refreshAt(1, passes)).to.equal('refresh_refused');
      expect(used).to.deep.equal(['first']);
    });
  }
});
