import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Home } from '../../src/memory/home.ts';
import { hashSharedName } from '../../src/memory/kinds.ts';
import { createMarks, createOnce } from '../../src/memory/marks.ts';
import { eventually } from '../harness/system/eventually.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { sharedHome } from '../harness/system/shared-home.ts';

const keys = [randomBytes(32)] as const;
const minute = 60_000;
const kind = { letter: 'm', most: 100, lifetime: minute };
const outcome = { scope: 'mine' };

describe('a shared memory that comes back', () => {
  let server: MemoryServerHere;
  let relay: Home;
  let other: Home;
  const homes: Awaited<ReturnType<typeof sharedHome>>[] = [];
  const start = async () => {
    const home = await sharedHome(server.address, keys);
    homes.push(home);
    return home;
  };
  beforeEach(async () => {
    server = await MemoryServerHere.start();
    relay = await start();
    other = await start();
  });
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.close();
    await server.stop();
  });

  /** Once the server gets a command with this word. The reply is `reply`, if it is given. */
  const told = (word: string, reply?: Error) =>
    new Promise<void>((resolve) => {
      server.instead = (words) => {
        if (!words.includes(word)) return undefined;
        server.instead = () => undefined;
        resolve();
        return reply;
      };
    });
  const loseEverything = async () => {
    await server.stop();
    server.values.clear();
  };
  const isBack = () =>
    eventually(async () => {
      expect(relay.shared?.isAway()).to.equal(false);
      expect(other.shared?.isAway()).to.equal(false);
    });
  /** Restarts the server empty. The relay has written its entries to it, and waits for the other relay. */
  const restart = async (knownName: string) => {
    await loseEverything();
    const isTold = told(knownName);
    await server.listen(server.port);
    await isTold;
  };
  const leads = (home: Home, isAlways: boolean, during: () => Promise<void>) =>
    home.shared?.callOnce('r', 'key', {
      call: async () => {
        await during();
        return outcome;
      },
      isAnswer: () => true,
      keep: () => ({ lifetime: minute, countsWithoutLock: isAlways }),
    });
  const name = hashSharedName('r', 'key');
  const nameOf = (mark: string) => hashSharedName(kind.letter, mark);

  it('learns what ends while the relays write what they know', async () => {
    const marks = createMarks(relay, kind);
    await marks.mark('early', minute);
    await restart(nameOf('early'));
    await marks.mark('late', minute);
    await isBack();
    for (const mark of ['early', 'late']) {
      expect(await createMarks(other, kind).isMarked(mark), mark).to.equal(true);
    }
  });

  it('learns it after two outages in a row', async () => {
    const marks = createMarks(relay, kind);
    await marks.mark('early', minute);
    await restart(nameOf('early'));
    await marks.mark('between', minute);
    await restart(nameOf('between'));
    await marks.mark('late', minute);
    await isBack();
    for (const mark of ['early', 'between', 'late']) {
      expect(await createMarks(other, kind).isMarked(mark), mark).to.equal(true);
    }
  });

  it('learns it again if it is restarted while it is told the last', async () => {
    const marks = createMarks(relay, kind);
    await marks.mark('early', minute);
    await restart(nameOf('early'));
    const isTold = told(nameOf('late'), new Error('LOADING a dump'));
    await marks.mark('late', minute);
    await isTold;
    await loseEverything();
    await server.listen(server.port);
    await eventually(async () => expect([...server.values.keys()]).to.include(nameOf('late')));
    await isBack();
    expect(await createMarks(other, kind).isMarked('late')).to.equal(true);
  });

  it('learns a write that has failed, though it never lost the connection', async () => {
    const marks = createMarks(relay, kind);
    const isTold = told(nameOf('late'), new Error('LOADING a dump'));
    await marks.mark('late', minute);
    await isTold;
    await isBack();
    expect(await createMarks(other, kind).isMarked('late')).to.equal(true);
  });

  for (const isAlways of [false, true]) {
    const which = isAlways ? 'that counts in any case' : 'that only its lock lets it leave';
    it(`keeps no lock of a call that ends in the meantime, with a result ${which}`, async () => {
      await leads(relay, isAlways, () => restart(name));
      await isBack();
      const found = await leads(other, isAlways, () => expect.fail('a second call'));
      expect(found?.outcome).to.deep.include(outcome);
    });

    it(`keeps no lock of a call whose end it did not get, with a result ${which}`, async () => {
      await leads(relay, isAlways, () => server.stop());
      await server.listen(server.port);
      await isBack();
      const found = await leads(other, isAlways, () => expect.fail('a second call'));
      expect(found?.outcome).to.deep.include(outcome);
    });
  }

  it('forgets entries that were removed while it did not answer', async () => {
    await relay.shared?.leave('r', 'key', outcome, minute);
    await server.stop();
    await relay.shared?.forget('r', 'key', minute);
    await server.listen(server.port);
    await isBack();
    expect(await other.shared?.peek('r', 'key')).to.equal(undefined);
  });

  it('lets another relay repeat a call that failed while it did not answer', async () => {
    const fail = () => expect.fail('begun before');
    const work = createOnce(relay, kind, fail).run('key', async () => {
      await server.stop();
      throw new Error('failed');
    });
    await work.catch(() => {});
    await server.listen(server.port);
    await isBack();
    await eventually(async () => expect(server.values.get(nameOf('key'))?.end ?? 0).to.be.below(Date.now()));
    expect(await createOnce(other, kind, fail).run('key', async () => 'done')).to.equal('done');
  });

  it('removes no mark that another relay has set since', async () => {
    const fail = () => expect.fail('begun before');
    const work = createOnce(relay, kind, fail).run('key', async () => {
      await loseEverything();
      throw new Error('failed');
    });
    await work.catch(() => {});
    server.values.set(nameOf('key'), { text: 'of another relay', end: Date.now() + minute });
    await server.listen(server.port);
    await isBack();
    expect(await createMarks(other, kind).isMarked('key')).to.equal(true);
  });
});
