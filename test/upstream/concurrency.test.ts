import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { limits } from '../../src/limits.ts';
import { createRoom } from '../../src/upstream/concurrency.ts';

const { apiCallsOfSession, apiCallsOfAddress, apiOrdinaryPace, providerCalls } = limits;
const most = providerCalls / 2;

/** The transfers in flight to the API, by name. A transfer that is ended for another leaves the list. */
class Transfers {
  readonly room = createRoom(providerCalls);
  readonly inFlight: { session: string; pace: number; leave: () => void }[] = [];

  add(session: string, address?: string, pace: number = apiOrdinaryPace, person?: string): void {
    const one = { session, pace, leave: () => {} };
    const end = () => {
      this.inFlight.splice(this.inFlight.indexOf(one), 1);
      one.leave();
    };
    one.leave = this.room.takeForTransfer({ session, address, person, pace: () => pace, evict: end });
    this.inFlight.push(one);
  }

  /** Adds as many as there is room for. */
  fill(count: number, nameOf: (index: number) => readonly [string, string?, string?], pace?: number): void {
    for (let index = 0; index < count; index += 1) {
      const [session, address, person] = nameOf(index);
      this.add(session, address, pace, person);
    }
  }

  of(session: string): number {
    return this.inFlight.filter((one) => one.session === session).length;
  }
}

const overloaded = (task: () => void) => expect(task).to.throw(RelayError, 'overloaded');

describe('the room for calls to APIs', () => {
  let transfers: Transfers;
  beforeEach(() => {
    transfers = new Transfers();
  });

  it('has a share for each session, which is given back', () => {
    transfers.fill(apiCallsOfSession, () => ['a']);
    overloaded(() => transfers.add('a'));
    transfers.add('b');
    transfers.inFlight[0]?.leave();
    transfers.add('a');
    overloaded(() => transfers.add('a'));
  });

  it('has a share for each address', () => {
    transfers.fill(apiCallsOfAddress, (index) => [`${index}`, 'x']);
    overloaded(() => transfers.add('new', 'x'));
    transfers.add('new', 'y');
    transfers.add('new');
  });

  it('has a place for everybody at an address, whoever holds its share', () => {
    transfers.fill(apiCallsOfAddress, (index) => [`${index % 2}`, 'x']);
    transfers.add('new', 'x');
    expect(transfers.of('new')).to.equal(1);
    expect(transfers.inFlight).to.have.length(apiCallsOfAddress);
  });

  for (const [who, nameOf] of [
    ['four sessions', (index: number) => [`${index % 4}`]],
    ['two addresses with a session for each call', (index: number) => [`${index}`, `${index % 2}`]],
    ['four sessions with an address for each call', (index: number) => [`${index % 4}`, `${index}`]],
    ['a person with a session and an address for each call', (index: number) => [`${index}`, `${index}`, 'greedy']],
    [
      'a person with a session for each call, at unknown addresses',
      (index: number) => [`${index}`, undefined, 'greedy'],
    ],
  ] as const) {
    it(`has a place for others if ${who} take all places, however fast they are`, () => {
      transfers.fill(most, (index) => nameOf(index) as [string, string?, string?]);
      for (let count = 1; count <= 10; count += 1) {
        transfers.add('honest', 'honest');
        expect(transfers.of('honest')).to.equal(count);
      }
      expect(transfers.inFlight).to.have.length(most);
    });
  }

  it('has a place for everybody at an address, if one person holds its share by many sessions', () => {
    transfers.fill(apiCallsOfAddress, (index) => [`${index}`, 'x', 'greedy']);
    transfers.add('new', 'x', apiOrdinaryPace, 'another');
    expect(transfers.of('new')).to.equal(1);
    overloaded(() => transfers.add('one more', 'x', apiOrdinaryPace, 'greedy'));
  });

  it('is not taken from holders with fewer places', () => {
    transfers.fill(most - apiCallsOfSession + 1, (index) => [`honest ${index}`]);
    transfers.fill(apiCallsOfSession - 1, () => ['greedy']);
    overloaded(() => transfers.add('greedy'));
    expect(transfers.inFlight).to.have.length(most);
    expect(transfers.of('greedy')).to.equal(apiCallsOfSession - 1);
  });

  it('is taken from slow transfers of strangers before it is full, the slowest first', () => {
    transfers.fill(most / 2 - 2, (index) => [`fast ${index}`]);
    transfers.add('slow', undefined, apiOrdinaryPace / 2);
    transfers.add('slow', undefined, 0);
    transfers.add('new');
    expect(transfers.inFlight.some(({ pace }) => pace === 0)).to.equal(false);
    expect(transfers.of('slow')).to.equal(1);
    expect(transfers.inFlight).to.have.length(most / 2);
  });

  for (const share of [most / 2, most - 20]) {
    it(`is not taken from slow people with one transfer each while others have many, as with ${share}`, () => {
      transfers.fill(20, (index) => [`person ${index}`], apiOrdinaryPace / 2);
      transfers.fill(share, (index) => [`greedy ${index % 4}`]);
      for (let time = 0; time < 20; time += 1) {
        transfers.add('again and again');
        transfers.inFlight.at(-1)?.leave();
        transfers.inFlight.pop();
      }
      expect(transfers.inFlight.filter(({ session }) => session.startsWith('person'))).to.have.length(20);
    });
  }

  it('is taken from slow people with one transfer each once it is full of them', () => {
    transfers.fill(most, (index) => [`${index}`], 0);
    transfers.add('new');
    expect(transfers.inFlight).to.have.length(most);
  });

  it('is left to slow transfers while less than half is taken', () => {
    transfers.fill(most / 2, () => [`${transfers.inFlight.length}`], 0);
    expect(transfers.inFlight).to.have.length(most / 2);
  });

  it('is not taken from fast transfers of others who have one each', () => {
    transfers.fill(most, (index) => [`${index}`]);
    overloaded(() => transfers.add('new'));
    expect(transfers.inFlight).to.have.length(most);
  });
});
