import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createExpiringMap, createExpiringSecrets, hashKey } from '../../src/memory/expiring-map.ts';

describe('a recent memory', () => {
  let time: number;
  let recent: ReturnType<typeof createExpiringSecrets<string>>;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    time = 1_800_000_000_000;
    recent = createExpiringSecrets(60_000, 3, () => time);
  });
  afterEach(() => mock.timers.reset());

  it('forgets an entry when its time is over', () => {
    recent.set('a', 'value');
    time += 59_999;
    expect(recent.get('a')).to.equal('value');
    time += 1;
    expect(recent.get('a')).to.equal(undefined);
  });

  it('forgets it without a request, and even if the clock is set back', () => {
    recent.set('a', 'value');
    time -= 3_600_000;
    mock.timers.tick(59_999);
    expect(recent.get('a')).to.equal('value');
    mock.timers.tick(1);
    expect(recent.get('a')).to.equal(undefined);
    time += 3_600_000;
    expect(recent.get('a')).to.equal(undefined);
  });

  it('forgets the oldest entry if it is full, and keeps an entry that is set again for the whole time', () => {
    for (const key of ['a', 'b', 'c']) recent.set(key, key);
    time += 30_000;
    mock.timers.tick(30_000);
    recent.set('a', 'again');
    recent.set('d', 'd');
    expect(['a', 'b', 'c', 'd'].map(recent.get)).to.deep.equal(['again', undefined, 'c', 'd']);
    time += 30_000;
    mock.timers.tick(30_000);
    expect(['a', 'c', 'd'].map(recent.get)).to.deep.equal(['again', undefined, 'd']);
  });

  it('forgets the oldest entry of the group with most of them', () => {
    recent.set('a', 'a', 'one');
    for (const key of ['b', 'c', 'd']) recent.set(key, key, 'many');
    recent.set('e', 'e', 'another');
    expect(['a', 'b', 'c', 'd', 'e'].map(recent.get)).to.deep.equal(['a', undefined, undefined, 'd', 'e']);
  });
});

describe('a memory whose entries have different lifetimes', () => {
  it('forgets expired entries before the oldest entry that has not expired', () => {
    let time = 0;
    const lasting = createExpiringMap<true>(3, () => time);
    lasting.set('month', true, 1000);
    for (const key of ['a', 'b']) lasting.set(key, true, 10);
    time = 10;
    for (const key of ['c', 'd']) lasting.set(key, true, 10);
    expect(['month', 'c', 'd'].map(lasting.get)).to.deep.equal([true, true, true]);
  });
});

describe('the entries that a recent memory has forgotten', () => {
  /** Whether the value of an entry stays in memory after this action on the entry. */
  async function staysInMemory(
    forget: (recent: ReturnType<typeof createExpiringSecrets<object>>) => void,
  ): Promise<boolean> {
    const recent = createExpiringSecrets<object>(60_000, 1, Date.now);
    const value = (() => {
      const secret = {};
      recent.set('a', secret);
      return new WeakRef(secret);
    })();
    forget(recent);
    // A WeakRef keeps its value until the end of the turn in which it was made.
    await setImmediate();
    collectGarbage();
    return value.deref() !== undefined;
  }

  let collectGarbage: () => void;
  before('allow to collect garbage', () => {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc');
  });
  after(() => setFlagsFromString('--no-expose-gc'));

  it('leaves the memory at once, so that a flood cannot fill the memory', async () => {
    expect(await staysInMemory(() => {}), 'as long as it is an entry').to.equal(true);
    expect(await staysInMemory((recent) => recent.delete('a')), 'deleted').to.equal(false);
    expect(await staysInMemory((recent) => recent.set('b', {})), 'evicted').to.equal(false);
    expect(await staysInMemory((recent) => recent.set('a', {})), 'replaced').to.equal(false);
  });
});

describe('a key of a recent memory', () => {
  it('differs for other parts and for other boundaries between them', () => {
    const lists = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['abc', undefined], ['a","bc']];
    expect(new Set(lists.map((parts) => hashKey(...parts))).size).to.equal(lists.length);
  });

  it('does not reveal its parts', () => {
    expect(hashKey('secret')).to.match(/^[\w-]{43}$/);
  });
});
