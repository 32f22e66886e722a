import { mock } from 'node:test';
import { expect } from 'chai';
import { createRecent, keyOf, type Recent } from '../../src/grants/recent.ts';

describe('a recent memory', () => {
  let time: number;
  let recent: Recent<string>;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    time = 1_800_000_000_000;
    recent = createRecent(60_000, 3, () => time);
  });
  afterEach(() => mock.timers.reset());

  it('forgets an entry when its time is over', () => {
    recent.set('a', 'value');
    time += 59_999;
    expect(recent.get('a')).to.equal('value');
    time += 1;
    expect(recent.get('a')).to.equal(undefined);
  });

  it('forgets it even if nobody asks, and even if the clock is set back', () => {
    recent.set('a', 'value');
    time -= 3_600_000;
    mock.timers.tick(59_999);
    expect(recent.get('a')).to.equal('value');
    mock.timers.tick(1);
    expect(recent.get('a')).to.equal(undefined);
    time += 3_600_000;
    expect(recent.get('a')).to.equal(undefined);
  });

  it('forgets it at once when it is deleted', () => {
    recent.set('a', 'value');
    recent.delete('a');
    expect(recent.get('a')).to.equal(undefined);
  });

  it('forgets the oldest entry beyond its size', () => {
    for (const key of ['a', 'b', 'c', 'd']) recent.set(key, key);
    expect(['a', 'b', 'c', 'd'].map(recent.get)).to.deep.equal([undefined, 'b', 'c', 'd']);
  });

  it('keeps an entry that is set again for the whole time, as the newest one', () => {
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
});

describe('a key of a recent memory', () => {
  it('is another one for other parts, wherever one ends and the next one begins', () => {
    const lists = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['abc', undefined], ['a","bc']];
    expect(new Set(lists.map((parts) => keyOf(...parts))).size).to.equal(lists.length);
  });

  it('does not tell its parts', () => {
    expect(keyOf('secret')).to.match(/^[\w-]{43}$/);
  });
});
