import { limits } from '../limits.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import type { ObserveCall, StreamedRequest } from '../upstream/messages.ts';
import type { Transfer } from '../upstream/transfer.ts';
import type { AccessTokenContent } from './access-tokens.ts';
import type { Closing, Door } from './door.ts';

/** Why the relay ends a stream itself. `limit`: another person needs the place. */
export type Cut = Closing | 'stop' | 'limit';

/** Milliseconds between two sweeps over all streams. */
const lookTime = 1_000;

/** A request to a server behind the gateway, until its response is complete. */
export interface Stream {
  door: Door;
  readonly opened: AccessTokenContent;
  /** Whether it waits for events. If so, it ends together with its token. */
  readonly isListening: boolean;
  /** Whether a browser sends it, which loads a page by many requests at once: they count for the person alone. */
  readonly isOfBrowser?: boolean;
  /** Whether the present keys and rules still admit the request at a door. */
  mayStayAt(door: Door): boolean;
  end(why: Cut): void;
}

/** Where a request through the gateway comes from, and what it shares. */
export interface StreamSource {
  /** The client address, unless it may be a proxy's. */
  readonly address: string | undefined;
  /** Whether there are other resources, which need places as well. */
  readonly hasOthers: boolean;
}

/** The person or machine with most streams. */
export interface LargestHolder {
  /** The number of people and machines with streams. */
  readonly people: number;
  readonly most: number;
  readonly person: string | undefined;
}

export type Streams = ReturnType<typeof createStreams>;

/** Passes requests to the servers behind the gateway. A reload ends only the streams that it concerns. */
export function createStreams() {
  let client: UpstreamClient | undefined;
  const streams = new Set<Stream>();
  /** The doors of the last reload, by key; undefined before the first reload. */
  let doors: ReadonlyMap<string, Door> | undefined;
  let isStopping = false;
  let looks: NodeJS.Timeout | undefined;

  /**
   * Ends a stream whose door has closed to it. Each sweep ends at most one listening stream of a login, so that its
   * client refreshes only once.
   */
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
   * After a reload: ends a stream whose resource has changed, or whose token was made with a removed key, which a thief
   * may have. Any other stream continues at its new door.
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
    // One timer for all streams: a timer for each of a thousand would keep waking the process.
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
    /** As `stream` of the client. It counts the request for its login, address, person and resource. */
    pass(
      stream: Stream,
      { address, hasOthers, ...request }: Omit<StreamedRequest, 'holder' | 'end'> & StreamSource,
      observe: ObserveCall,
    ): Transfer {
      const { door, opened, isListening, isOfBrowser } = stream;
      const holder = {
        session: isOfBrowser ? undefined : opened.login,
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
      // The call cannot have ended before it is counted, because nothing of it has happened yet.
      add(stream);
      return transfer;
    },
    /** Ends the streams of changed resources, and moves all others to their new doors. */
    follow(present: readonly Door[]): void {
      doors = new Map(present.map((door) => [door.key, door]));
      for (const stream of streams) follow(stream);
    },
    /** Ends listening streams one after the other, so that their clients do not all reconnect elsewhere at once. */
    stop(): void {
      isStopping = true;
      const listening = [...streams].filter((one) => one.isListening);
      for (const [index, { end }] of listening.entries()) {
        setTimeout(end, (limits.stopListeningTime * index) / listening.length, 'stop');
      }
    },
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
