import { createInFlight } from '../in-flight.ts';
import { limits } from '../limits.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import type { ObserveCall, StreamedRequest } from '../upstream/messages.ts';
import type { Transfer } from '../upstream/transfer.ts';
import type { AccessTokenContent } from './access-tokens.ts';
import type { ClosedReason, Door } from './door.ts';

/** Why the relay ends a stream itself. `limit`: another person needs the place. */
export type Cut = ClosedReason | 'stop' | 'limit';

/** Milliseconds between two sweeps over all streams. */
const sweepInterval = 1_000;

/** A request to a server behind the gateway, until its response is complete. */
export interface Stream {
  door: Door;
  opened: AccessTokenContent;
  /** Whether it waits for events. If so, it ends when its token expires, and early in a stop. */
  isListening: boolean;
  /** Whether a browser sends it. Its requests count for the person only, because a page loads many files at once. */
  readonly isOfBrowser?: boolean;
  /**
   * Reads the token of the request again, at a door that a reload has created. The content may be another one, because
   * the reload may have made the lifetime of cookies shorter.
   *
   * @returns undefined if the request may not stay
   */
  readAgainAt(door: Door): AccessTokenContent | undefined;
  end(why: Cut): void;
}

/** How a request through the gateway is counted, besides its login and person. */
export interface StreamSource {
  /** The client address; undefined if it may be a proxy's. */
  readonly address: string | undefined;
  /** Whether there are other resources, to which this resource must leave places. */
  readonly hasOthers: boolean;
}

export interface LargestHolder {
  /** The number of people and machines with streams. */
  readonly people: number;
  /** The most streams that one of them has. */
  readonly most: number;
  /** The id of the person or machine with most streams. */
  readonly person: string | undefined;
}

export type Streams = ReturnType<typeof createStreams>;

/**
 * Passes requests to the servers behind the gateway, counts them, and ends them: when their token ends, after a logout,
 * when a reload changes their resource, and when the relay stops.
 */
export function createStreams() {
  let client: UpstreamClient | undefined;
  const streams = createInFlight<Stream>();
  /** The doors of the last reload, by key; undefined before the first reload. */
  let doors: ReadonlyMap<string, Door> | undefined;
  let isStopping = false;
  let sweepTimer: NodeJS.Timeout | undefined;

  /**
   * Ends a stream whose door has closed to it. Each sweep ends at most one listening stream of a login whose token has
   * expired, so that its client refreshes only once.
   *
   * @param endedInSweep the logins of which this sweep has ended a listening stream
   */
  async function endIfClosed(stream: Stream, endedInSweep: Set<string>): Promise<void> {
    const { door, opened, isListening } = stream;
    const grace = isListening ? 0 : limits.answerAfterTokenTime;
    const why = await door.whyClosedTo(opened, grace);
    if (why === undefined) return;
    if (why === 'token_end' && isListening) {
      if (endedInSweep.has(opened.login)) return;
      endedInSweep.add(opened.login);
    }
    stream.end(why);
  }

  /**
   * Moves a stream to its door after a reload. It ends if the reload changed its resource, or removed the key of its
   * token, because a thief may have that key.
   */
  function moveToNewDoor(stream: Stream): void {
    if (doors === undefined) return;
    const door = doors.get(stream.door.key);
    const opened = door && stream.readAgainAt(door);
    if (door === undefined || opened === undefined) {
      stream.end('reload');
      return;
    }
    stream.door = door;
    stream.opened = opened;
  }

  /** Counts a stream, and lets each sweep examine it. The stream ends at once if it began too late for a reload or a stop. */
  function countAndWatch(stream: Stream): void {
    streams.add(stream);
    // A reload or a stop may have begun while the request waited for its body.
    moveToNewDoor(stream);
    if (isStopping && stream.isListening) stream.end('stop');
    // One timer for all streams, because a thousand timers would keep waking the process.
    sweepTimer ??= setInterval(() => {
      const endedInSweep = new Set<string>();
      for (const one of streams.all()) void endIfClosed(one, endedInSweep);
    }, sweepInterval).unref();
  }

  /** Counts a stream no more. Without streams, there are no sweeps. */
  function remove(stream: Stream): void {
    streams.remove(stream);
    if (streams.count() > 0) return;
    clearInterval(sweepTimer);
    sweepTimer = undefined;
  }

  return {
    isStopping: (): boolean => isStopping,
    /** Treats a stream as listening, because its server has answered with events. */
    countAsListening(stream: Stream): void {
      stream.isListening = true;
      if (isStopping) stream.end('stop');
    },
    /** Passes a request to its server, and counts it for its login, address, person and resource until it ends. */
    pass(
      stream: Stream,
      { address, hasOthers, ...request }: Omit<StreamedRequest, 'holder' | 'evict'> & StreamSource,
      observe: ObserveCall,
    ): Transfer {
      const { door, opened, isListening, isOfBrowser } = stream;
      const holder = {
        session: isOfBrowser ? undefined : opened.login,
        address,
        person: door.holderName(opened),
        resource: hasOthers ? door.resource.name : undefined,
        isListening,
      };
      client ??= createUpstreamClient({
        timeout: limits.streamHeadTime,
        concurrentCalls: limits.streams,
        destination: 'resource',
      });
      const transfer = client.stream({ ...request, holder, evict: () => stream.end('limit') }, (call, isSent) => {
        remove(stream);
        observe(call, isSent);
      });
      // `remove` cannot have run before, because the call has not begun to read or write.
      countAndWatch(stream);
      return transfer;
    },
    /** Ends the streams of changed resources, and moves all others to their new doors. */
    applyReload(present: readonly Door[]): void {
      doors = new Map(present.map((door) => [door.key, door]));
      for (const stream of streams.all()) moveToNewDoor(stream);
    },
    /** Ends listening streams one after the other, so that their clients do not all reconnect elsewhere at once. */
    stop(): void {
      isStopping = true;
      const listening = streams.all().filter((one) => one.isListening);
      for (const [index, { end }] of listening.entries()) {
        setTimeout(end, (limits.stopListeningTime * index) / listening.length, 'stop');
      }
    },
    /** The number of streams of each resource, by its name. */
    counts(): ReadonlyMap<string, number> {
      const byName = Map.groupBy(streams.all(), ({ door }) => door.resource.name);
      return new Map([...byName].map(([name, { length }]) => [name, length]));
    },
    largestHolder(): LargestHolder {
      const byPerson = Map.groupBy(streams.all(), ({ door, opened }) => door.holderName(opened));
      const [largest = []] = [...byPerson.values()].toSorted((one, other) => other.length - one.length);
      return { people: byPerson.size, most: largest.length, person: largest[0]?.opened.sub };
    },
    close: (): void => client?.close(),
  };
}
