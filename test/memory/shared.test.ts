import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { FrontEndRefresh } from '../../src/grants/refresh-chain.ts';
import { createRefreshes } from '../../src/grants/refresh-once.ts';
import { createCounters } from '../../src/memory/counters.ts';
import { hashSharedName } from '../../src/memory/kinds.ts';
import { createMarks } from '../../src/memory/marks.ts';
import { eventually } from '../harness/system/eventually.ts';
import { freePort } from '../harness/system/free-port.ts';
import { MemoryServer, memoryProgram } from '../harness/system/memory-server.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { needsPrograms } from '../harness/system/needs.ts';
import { sharedHome } from '../harness/system/shared-home.ts';

const keys = [randomBytes(32)] as const;
const refresh: FrontEndRefresh = {
  login: 'login',
  owner: ['a', 'app'],
  refreshToken: 'first',
  scope: undefined,
};
const response = {
  accessToken: 'access',
  tokenType: undefined,
  expiresIn: 3600,
  scope: undefined,
  refreshToken: 'second',
  refreshExpiresIn: undefined,
};
const minute = 60_000;

describe('a relay that shares a memory', () => {
  let server: MemoryServerHere;
  const homes: Awaited<ReturnType<typeof sharedHome>>[] = [];
  const start = async (address: string, how: { callTime?: number; isThere?: boolean; now?: () => number } = {}) => {
    const home = await sharedHome(address, keys, how);
    homes.push(home);
    return home;
  };
  beforeEach(async () => {
    server = await MemoryServerHere.start();
  });
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.close();
    await server.stop();
  });

  it('gives the result of another relay, even if the server stops before it says how old the result is', async () => {
    const first = await start(server.address);
    const second = await start(server.address);
    await createRefreshes(first).refreshOnce(refresh, async () => response);
    server.instead = ([name]) => (name === 'PTTL' ? new Error('LOADING a dump') : undefined);
    const again = await createRefreshes(second).refreshOnce(refresh, () => expect.fail('spent'));
    expect(again).to.include({ accessToken: 'access', refreshToken: 'second' });
  });

  it('repeats a refresh for 30 seconds also where the provider keeps its refresh token', async () => {
    const refreshes = createRefreshes(await start(server.address));
    let calls = 0;
    const call = async () => {
      calls += 1;
      return { ...response, accessToken: `access ${calls}`, refreshToken: undefined };
    };
    for (let times = 0; times < 3; times += 1) {
      const { accessToken } = await refreshes.refreshOnce(refresh, call);
      expect(accessToken).to.equal('access 1');
    }
  });

  it('accepts no result that somebody puts back', async () => {
    let now = Date.now();
    const old = createRefreshes(await start(server.address, { now: () => now }));
    await old.refreshOnce(refresh, async () => response);
    const values = [...server.values];
    const again = async (age: number) => {
      now += age;
      for (const [name, { text }] of values) server.values.set(name, { text, end: now * 2 });
      const restarted = createRefreshes(await start(server.address, { now: () => now }));
      const fresh = { ...response, accessToken: 'fresh' };
      return (await restarted.refreshOnce(refresh, async () => fresh)).accessToken;
    };
    expect(await again(minute)).to.equal('access');
    expect(await again(minute + 1)).to.equal('fresh');
  });

  it('makes one call together with another relay, even if the key has a foreign value', async () => {
    const relays = [await start(server.address), await start(server.address)];
    let calls = 0;
    const call = async () => {
      calls += 1;
      await sleep(50);
      return response;
    };
    await createRefreshes(await start(server.address)).refreshOnce(refresh, call);
    for (const [name, { end }] of server.values) server.values.set(name, { text: 'garbage', end });
    await Promise.all(relays.map((home) => createRefreshes(home).refreshOnce(refresh, call)));
    expect(calls).to.equal(2);
  });

  it('waits no longer for a lock than a relay can hold it', async () => {
    const home = await start(server.address, { callTime: -4900 });
    const end = Date.now() + minute;
    server.values.set(hashSharedName('r', 'key'), { text: 'Lock of somebody else', end });
    const found = await home.shared?.callOnce('r', 'key', {
      call: async () => ({ scope: 'mine' }),
      isAnswer: () => true,
      keep: () => ({ lifetime: 1000, countsWithoutLock: false }),
    });
    expect(found).to.deep.include({ how: 'led', outcome: { scope: 'mine' } });
  });

  it('counts by itself if the server answers with no numbers', async () => {
    const counters = createCounters(await start(server.address), {
      name: 'kind',
      lifetime: 60_000,
    });
    server.instead = ([name]) => (name === 'EVAL' ? ['many', 'much'] : undefined);
    expect((await counters.add('1', 1)).count).to.equal(1);
    expect((await counters.add('1', 1)).count).to.equal(2);
  });

  needsPrograms(memoryProgram).it('continues a count although the key has a foreign value', async () => {
    const real = await MemoryServer.start();
    try {
      const home = await start(real.address);
      const counters = createCounters(home, { name: 'kind', lifetime: 60_000 });
      await counters.add('1', 1);
      const [{ key = '' } = {}] = (await real.content()).filter((one) => one.key.includes(':n:'));
      for (const command of ['SET', 'LPUSH']) {
        await real.run(['DEL', key], [command, key, 'no number']);
        await counters.add('1', 1);
        expect(home.shared?.isAway()).to.equal(false);
      }
      const [, left] = await real.run(['GET', key], ['PTTL', key]);
      expect(left).to.be.within(1, 60_000);
    } finally {
      await real.stop();
    }
  });

  for (const [error, code] of [
    ['NOAUTH Authentication required.', 'NOAUTH'],
    ['WRONGPASS invalid username-password pair', 'WRONGPASS'],
    ["NOPERM this user has no permissions to run the 'eval' command", 'NOPERM'],
    ['MOVED 1234 192.0.2.7:6379', 'MOVED'],
    ["ERR unknown command 'EVAL', with args beginning with: ", 'NOCOMMAND'],
  ] as const) {
    it(`says once that it cannot be used, and no outage: ${code}`, async () => {
      const told: string[] = [];
      let attempts = 0;
      server.instead = ([name]) => {
        if (name !== 'EVAL') return undefined;
        attempts += 1;
        return new Error(error);
      };
      const home = await sharedHome(server.address, keys, { fail: (why) => told.push(why), isThere: false });
      homes.push(home);
      await eventually(async () => expect(attempts).to.be.above(3));
      expect(told).to.deep.equal([`unusable ${code}`]);
      expect(home.shared?.isAway()).to.equal(true);
    });
  }

  it('says once that some keys cannot be used, however often probes succeed', async () => {
    const told: string[] = [];
    const home = await sharedHome(server.address, keys, { fail: (why) => told.push(why) });
    homes.push(home);
    const marks = createMarks(home, { letter: 'kind', most: 10 });
    server.instead = (words) => (words[1]?.includes(':kind:') ? new Error('NOPERM no such key') : undefined);
    await marks.mark('a', minute);
    await eventually(async () => expect(told).to.deep.equal(['unusable NOPERM']));
    server.instead = () => undefined;
    await eventually(async () => expect(home.shared?.isAway()).to.equal(false));
    expect(told).to.deep.equal(['unusable NOPERM']);
  });

  needsPrograms(memoryProgram).it('says at every node of a Cluster that it needs another address, once', async () => {
    const nodes: MemoryServer[] = [];
    for (let count = 0; count < 3; count += 1) {
      const bus = ['--cluster-port', `${await freePort()}`];
      nodes.push(await MemoryServer.start(...bus, '--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no'));
    }
    try {
      const [first] = nodes;
      await first?.run(['CLUSTER', 'ADDSLOTSRANGE', '0', '8191']);
      const told = nodes.map((): string[] => []);
      for (const [index, node] of nodes.entries()) {
        const fail = (why: string) => told[index]?.push(why);
        homes.push(await sharedHome(node.address, keys, { fail, isThere: false }));
      }
      await eventually(async () => expect(told).to.deep.equal(nodes.map(() => ['unusable CLUSTER'])));
      // Further attempts, which say nothing.
      await sleep(300);
      expect(told).to.deep.equal(nodes.map(() => ['unusable CLUSTER']));
    } finally {
      for (const node of nodes) await node.stop();
    }
  });

  needsPrograms(memoryProgram).it('finds the slots of a Cluster that is being set up', async () => {
    const bus = ['--cluster-port', `${await freePort()}`];
    const words = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no'];
    const cluster = await MemoryServer.start(...bus, ...words);
    try {
      const home = await start(`redis+cluster://127.0.0.1:${cluster.port}`, { isThere: false });
      expect(home.shared?.isAway()).to.equal(true);
      const [slot] = await cluster.run(['CLUSTER', 'KEYSLOT', 'login-relay:1:probe']);
      await cluster.run(['CLUSTER', 'ADDSLOTS', `${slot}`]);
      await eventually(async () => expect(home.shared?.isAway()).to.equal(false));
      const ranges = ['0', `${Number(slot) - 1}`, `${Number(slot) + 1}`, '16383'];
      await cluster.run(['CLUSTER', 'ADDSLOTSRANGE', ...ranges]);
      await eventually(async () => {
        expect(await createMarks(home, { letter: 'kind', most: 1 }).isMarked('key', true)).to.equal(false);
      });
    } finally {
      await cluster.stop();
    }
  });
});
