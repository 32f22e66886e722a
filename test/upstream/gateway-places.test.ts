import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { limits } from '../../src/limits.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { createRoom } from '../../src/upstream/concurrency.ts';
import { serve } from '../harness/provider/serve.ts';

const { streams, streamsOfPerson, streamsOfNewcomer } = limits;

interface Entry {
  readonly person: string;
  readonly resource: string | undefined;
  readonly isListening: boolean;
  leave(): void;
}

/**
 * The streams in flight through the gateway. A stream that is ended for another leaves the list. Each has its own login
 * and address.
 */
class Crowd {
  readonly room = createRoom(streams, 'resource');
  readonly inFlight: Entry[] = [];
  #next = 0;

  add(person: string, resource?: string, isListening = false): boolean {
    const one = { person, resource, isListening, leave: () => {} };
    const leave = () => {
      this.inFlight.splice(this.inFlight.indexOf(one), 1);
      one.leave();
    };
    this.#next += 1;
    const holder = { session: `${this.#next}`, address: `${this.#next}`, person, resource };
    try {
      one.leave = this.room.takeForTransfer({ ...holder, isListening, pace: () => 0, evict: leave });
    } catch (error) {
      expect(error).to.be.instanceOf(RelayError).with.property('code', 'overloaded');
      return false;
    }
    this.inFlight.push(one);
    return true;
  }

  /** Lets each of so many people take as much as they get, in turn. */
  fill(people: number, name: string, resource?: string): void {
    for (let got = true; got; ) {
      got = false;
      for (let index = 0; index < people; index += 1) got = this.add(`${name} ${index}`, resource) || got;
    }
  }

  of(person: string): number {
    return this.inFlight.filter((one) => one.person === person).length;
  }
}

describe('the places of the gateway', () => {
  let crowd: Crowd;
  beforeEach(() => {
    crowd = new Crowd();
  });

  it('are at most an eighth for one person, whatever logins and addresses the person has', () => {
    crowd.fill(1, 'mallory');
    expect(crowd.of('mallory 0')).to.equal(streamsOfPerson);
    expect(crowd.add('ada')).to.equal(true);
  });

  it('are at most a quarter of the free places once the gateway is half full, so that a few people never fill it', () => {
    for (const [people, left] of [
      [4, 512],
      [8, 341],
      [32, 114],
      [100, 39],
    ] as const) {
      crowd = new Crowd();
      crowd.fill(people, 'mallory');
      expect(streams - crowd.room.inFlight(), `${people}`).to.be.within(left - 8, left + 8);
      const before = crowd.inFlight.length;
      for (let count = 0; count < streamsOfNewcomer; count += 1) expect(crowd.add('ada')).to.equal(true);
      expect(crowd.inFlight, 'nobody lost a stream').to.have.length(before + streamsOfNewcomer);
    }
  });

  it('are up to eight for everybody even when all are taken, because the person with the most loses a place', () => {
    crowd.fill(4, 'mallory');
    for (let index = 0; crowd.room.inFlight() < streams; index += 1) crowd.add(`person ${index}`);
    const before = crowd.inFlight.filter(({ person }) => person.startsWith('person'));
    for (let count = 0; count < streamsOfNewcomer; count += 1) expect(crowd.add('ada'), `${count}`).to.equal(true);
    expect(crowd.add('ada'), 'a ninth').to.equal(false);
    expect(crowd.of('ada')).to.equal(streamsOfNewcomer);
    expect(crowd.room.inFlight()).to.equal(streams);
    expect(crowd.inFlight).to.include.members(before);
    const left = [0, 1, 2, 3].map((index) => crowd.of(`mallory ${index}`));
    expect(left).to.deep.equal([126, 126, 126, 126]);
  });

  it('stay with people who have eight, whoever else asks', () => {
    for (let index = 0; crowd.room.inFlight() < streams; index += 1) crowd.add(`person ${index % 128}`);
    const before = [...crowd.inFlight];
    for (let index = 0; index < 100; index += 1) expect(crowd.add(`new ${index}`)).to.equal(false);
    expect(crowd.inFlight).to.deep.equal(before);
  });

  it('are given up by who listens first, because such a client comes back by itself; then by the youngest', () => {
    for (let count = 0; count < streamsOfPerson; count += 1) crowd.add('mallory', undefined, count === 5);
    for (let index = 0; crowd.room.inFlight() < streams; index += 1) crowd.add(`person ${index}`);
    const ofMallory = crowd.inFlight.filter(({ person }) => person === 'mallory');
    crowd.add('ada');
    expect(ofMallory.filter((one) => !crowd.inFlight.includes(one))).to.deep.equal([ofMallory[5]]);
    crowd.add('ada');
    expect(ofMallory.filter((one) => !crowd.inFlight.includes(one))).to.deep.equal([ofMallory[5], ofMallory.at(-1)]);
  });

  it('are for one of several resources at most three times as many as are free for the others', () => {
    for (let index = 0; crowd.add(`person ${index}`, 'notes'); index += 1);
    expect(crowd.room.inFlight()).to.equal((3 * streams) / 4);
    expect(crowd.add('ada', 'files')).to.equal(true);
    // The only resource can have all.
    crowd = new Crowd();
    for (let index = 0; crowd.add(`person ${index}`); index += 1);
    expect(crowd.room.inFlight()).to.equal(streams);
  });

  it('are taken from who has most at a resource that has its share', () => {
    crowd.fill(8, 'mallory', 'notes');
    for (let index = 0; crowd.room.inFlight() < (3 * streams) / 4; index += 1) crowd.add(`person ${index}`, 'notes');
    const before = crowd.inFlight.filter(({ person }) => person.startsWith('person'));
    expect(crowd.add('ada', 'notes')).to.equal(true);
    expect(crowd.inFlight).to.include.members(before);
    expect(crowd.room.inFlight()).to.equal((3 * streams) / 4);
    expect(crowd.add('ada', 'files')).to.equal(true);
    expect(crowd.room.inFlight()).to.equal((3 * streams) / 4 + 1);
  });

  it('are all given back', () => {
    crowd.fill(8, 'mallory', 'notes');
    for (const { leave } of [...crowd.inFlight]) leave();
    expect(crowd.room.inFlight()).to.equal(0);
    crowd.inFlight.length = 0;
    crowd.fill(1, 'mallory', 'notes');
    expect(crowd.of('mallory 0')).to.equal(streamsOfPerson);
  });

  it('are given up in the way of the stream itself, whose place is free at once', async () => {
    const server = await serve((_, response) => response.writeHead(200).flushHeaders());
    const client = createUpstreamClient({ timeout: 10_000, concurrentCalls: 64, destination: 'resource' });
    const ended: string[] = [];
    let session = 0;
    const begin = async (person: string) => {
      const body = new PassThrough();
      const end = () => {
        ended.push(person);
        body.destroy();
        transfer.cancel('overloaded');
      };
      session += 1;
      const holder = { session: `${session}`, address: undefined, person };
      const url = `http://127.0.0.1:${server.port}/`;
      const transfer = client.stream({ method: 'GET', url, headers: {}, holder, evict: end, client: body }, () => {});
      (await transfer.response).send();
    };
    for (let count = 0; count < 10; count += 1) await begin('mallory');
    for (let count = 0; client.inFlight() < 64; count += 1) await begin(`person ${count}`);
    await begin('ada');
    await begin('ada');
    expect(ended).to.deep.equal(['mallory', 'mallory']);
    expect(client.inFlight()).to.equal(64);
    const refused = await begin('ada').catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'overloaded');
    client.close();
    await server.close();
  });
});
