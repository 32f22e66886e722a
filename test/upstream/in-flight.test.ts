import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createInFlight } from '../../src/in-flight.ts';

describe('createInFlight', () => {
  it('lists objects in the order in which they began', () => {
    const inFlight = createInFlight<string>();
    for (const name of ['a', 'b', 'c']) inFlight.add(name);
    expect(inFlight.all()).to.deep.equal(['a', 'b', 'c']);
    expect(inFlight.remove('b')).to.equal(true);
    expect(inFlight.remove('b')).to.equal(false);
    expect(inFlight.all()).to.deep.equal(['a', 'c']);
    expect(inFlight.count()).to.equal(2);
  });

  it('gives a list that stays as it is while objects end', () => {
    const inFlight = createInFlight<string>();
    for (const name of ['a', 'b', 'c']) inFlight.add(name);
    const ended = inFlight.all().filter((name) => inFlight.remove(name));
    expect(ended).to.deep.equal(['a', 'b', 'c']);
  });

  describe('after a full garbage collection', () => {
    before(() => setFlagsFromString('--expose-gc'));
    after(() => setFlagsFromString('--no-expose-gc'));

    it('lets the quick collections free objects that have ended', () => {
      const inFlight = createInFlight<object>();
      const present: object[] = [];
      const passOne = () => {
        const entry = { content: new Array(500).fill(present.length) };
        inFlight.add(entry);
        present.push(entry);
        const ended = present.length > 16 ? present.shift() : undefined;
        if (ended !== undefined) inFlight.remove(ended);
      };
      for (let count = 0; count < 100; count += 1) passOne();
      runInNewContext('gc')();
      const before = oldSpace();
      for (let count = 0; count < 5_000; count += 1) passOne();
      // All entries together have 20 MB.
      expect(oldSpace() - before).to.be.below(2 * 1024 * 1024);
    });
  });
});

/** The bytes of objects that have outlived two quick collections. */
function oldSpace(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space');
  return space?.space_used_size ?? Number.NaN;
}
