import { limits } from '../limits.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import type { ObserveCall, StreamedRequest } from '../upstream/messages.ts';
import type { Transfer } from '../upstream/transfer.ts';
import type { AccessTokenContent } from './access-tokens.ts';
import type { Closing, Door } from './door.ts';

/** Why the relay itself ends a stream. `limit`: another person needs its place. */
export type Cut = Closing | 'stop' | 'limit';

/** Milliseconds between two looks at all streams. */
const lookTime = 1_000;

/** A request to a server behind the gateway, until its response is complete. */
export interface Stream {
  door: Door;
  readonly opened: AccessTokenContent;
  /** Whether it waits for events: it ends with its token. */
  readonly isListening: boolean;
  /** Whether the present keys and rules still open the door to what the request has shown. */
  mayStayAt(door: Door): boolean;
  end(why: Cut): void;
}

/** Where a request to a server behind the gateway comes from, and what it shares. */
export interface StreamSource {
  /** The subscriber, if the address is known to be the client's own. */
  readonly address: string | undefined;
  /** Whether there are other resources, which need places as well. */
  readonly hasOthers: boolean;
}

/** Who has most streams. */
export interface LargestHolder {
  /** The number of people and machines that have any. */
  readonly people: number;
  /** The number of the one who has most. */
  readonly most: number;
  /** Their `sub`. Undefined: nobody has any. */
  readonly person: string | undefined;
}

/** The streams of a process. */
export type Streams = ReturnType<typeof createStreams>;

/** Passes requests to the servers behind the gateway. A reload keeps those that it does not concern. */
export function createStreams() {
  let client: UpstreamClient | undefined;
  const streams = new Set<Stream>();
  /** The doors of the last reload, by their keys; undefined: there was no reload. */
  let doors: ReadonlyMap<string, Door> | undefined;
  let isStopping = false;
  let looks: NodeJS.Timeout | undefined;

  /** Ends a stream whose door is closed by now. One look ends one listening stream of a login: so a client refreshes once. */
  async function lookAt(stream: Stream, endedLogins: Set<string>): Promise<void> {
    const { door, opened, isListening } = stream;
    const grace = isListening ? 0 : limits.answerAfterTokenTime;
    const why = await door.closedTo(opened, grace);
    if (why === undefined) return;
    if (why === 'token_end' && isListening) {
      if (endedLogins.has(opened.login)) return;
      endedLogins.add(opened.login);
    }
    stream.end(why);
  }

  /**
   * After a reload: ends a stream of a resource that has changed, or whose token was made with a key that was removed: a
   * thief may have the key. Any other stream goes on behind its new door.
   */
  function follow(stream: Stream): void {
    if (doors === undefined) return;
    const door = doors.get(stream.door.key);
    if (door !== undefined && stream.mayStayAt(door)) stream.door = door;
    else stream.end('reload');
  }

  function add(stream: Stream): void {
    streams.add(stream);
    // A reload or a stop may have begun while the request waited for its body.
    follow(stream);
    if (isStopping && stream.isListening) stream.end('stop');
    // One timer for all: a thousand would wake up the process all the time.
    looks ??= setInterval(() => {
      const endedLogins = new Set<string>();
      for (const one of streams) void lookAt(one, endedLogins);
    }, lookTime).unref();
  }

  function remove(stream: Stream): void {
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(looks);
    looks = undefined;
  }

  return {
    isStopping: (): boolean => isStopping,
    /** As `stream` of the client, and counts the request for its login, address, person and resource. */
    pass(
      stream: Stream,
      { address, hasOthers, ...request }: Omit<StreamedRequest, 'holder' | 'end'> & StreamSource,
      observe: ObserveCall,
    ): Transfer {
      const { door, opened, isListening } = stream;
      const holder = {
        session: opened.login,
        address,
        person: door.nameOf(opened),
        resource: hasOthers ? door.resource.name : undefined,
        isListening,
      };
      client ??= createUpstreamClient({
        timeout: limits.streamHeadTime,
        concurrentCalls: limits.streams,
        to: 'resource',
      });
      const transfer = client.stream({ ...request, holder, end: () => stream.end('limit') }, (call, isSent) => {
        remove(stream);
        observe(call, isSent);
      });
      // Nothing of it has happened yet: the call cannot have ended before it is counted.
      add(stream);
      return transfer;
    },
    /** Ends the streams of resources that have changed. The doors of all others are the new ones. */
    follow(present: readonly Door[]): void {
      doors = new Map(present.map((door) => [door.key, door]));
      for (const stream of streams) follow(stream);
    },
    /** Ends listening streams one after the other: their clients come back elsewhere, but not at once. */
    stop(): void {
      isStopping = true;
      const listening = [...streams].filter((one) => one.isListening);
      for (const [index, { end }] of listening.entries()) {
        setTimeout(end, (limits.stopListeningTime * index) / listening.length, 'stop');
      }
    },
    /** The number of streams of each resource. */
    counts(): ReadonlyMap<string, number> {
      const byName = Map.groupBy(streams, ({ door }) => door.resource.name);
      return new Map([...byName].map(([name, { length }]) => [name, length]));
    },
    largestHolder(): LargestHolder {
      const byPerson = Map.groupBy(streams, ({ door, opened }) => door.nameOf(opened));
      const ofMost = [...byPerson.values()].toSorted((one, other) => other.length - one.length)[0] ?? [];
      return { people: byPerson.size, most: ofMost.length, person: ofMost[0]?.opened.sub };
    },
    close: (): void => client?.close(),
  };
}
