import { createInFlight } from '../in-flight.ts';

/** The people and places whose shares a transfer counts towards. */
export interface Holder {
  /** A session, or the login of a token. Undefined for a browser at a resource, whose pages load many files at once. */
  readonly session: string | undefined;
  /** The client address, unless it may be a proxy's. */
  readonly address: string | undefined;
  /** The person or machine, with their provider. Undefined for a session that does not know it. */
  readonly person?: string | undefined;
  /** The resource that the transfer goes to. Undefined if there is only one. */
  readonly resource?: string | undefined;
}

/**
 * A streamed call to a provider's API or to a server behind the gateway, which takes a place as long as its client
 * reads and sends.
 */
export interface CountedTransfer extends Holder {
  /** Whether its client waits for events, and reconnects by itself after their end. */
  readonly isListening?: boolean | undefined;
  /** Bytes a minute that the client reads or sends, at most `limits.apiOrdinaryPace`. */
  pace(): number;
  /** Ends it to make room for another transfer, and frees its place at once. */
  evict(): void;
}

export type CountedTransfers = ReturnType<typeof createCountedTransfers>;

const kinds = ['session', 'address', 'person', 'resource'] as const;

/** Counts the transfers in flight by session, address, person and resource. */
export function createCountedTransfers() {
  const inFlight = createInFlight<CountedTransfer>();
  const counts: Readonly<Record<(typeof kinds)[number], Map<string, number>>> = {
    session: new Map(),
    address: new Map(),
    person: new Map(),
    resource: new Map(),
  };

  /** Adds one to each count of a holder, or takes one away. */
  function changeCounts(holder: Holder, change: 1 | -1): void {
    for (const kind of kinds) {
      const name = holder[kind];
      if (name === undefined) continue;
      const countByName = counts[kind];
      const count = (countByName.get(name) ?? 0) + change;
      if (count === 0) countByName.delete(name);
      else countByName.set(name, count);
    }
  }

  return {
    count: inFlight.count,
    /** In the order in which they began. */
    all: inFlight.all,
    add(transfer: CountedTransfer): void {
      inFlight.add(transfer);
      changeCounts(transfer, 1);
    },
    remove(transfer: CountedTransfer): void {
      if (inFlight.remove(transfer)) changeCounts(transfer, -1);
    },
    /** The number of transfers with the holder's session, address, person or resource; 0 if the holder has none. */
    countWithSame: (kind: (typeof kinds)[number], holder: Holder): number => counts[kind].get(holder[kind] ?? '') ?? 0,
  };
}
