/** Who a transfer belongs to. */
export interface Holder {
  /** A session, or the login of a token. */
  readonly session: string;
  /** The subscriber, if the address is known to be the caller's own. */
  readonly address: string | undefined;
  /** The person or machine, with their provider. Undefined: a session does not know it. */
  readonly person?: string | undefined;
  /** The resource that it goes to. Undefined: there is no other. */
  readonly resource?: string | undefined;
}

/** A call to a provider's API, or to a server behind the gateway, which takes as long as its client reads and sends. */
export interface Transfer extends Holder {
  /** Whether its client waits for events, and comes back by itself after their end. */
  readonly isListening?: boolean | undefined;
  /** Bytes a minute that the client lets pass, `limits.apiOrdinaryPace` at most. */
  pace(): number;
  /** Ends it for the sake of another one, and gives its room back at once. */
  giveWay(): void;
}

/** The transfers in flight, counted by their holders. */
export type Holdings = ReturnType<typeof createHoldings>;

const kinds = ['session', 'address', 'person', 'resource'] as const;

export function createHoldings() {
  const transfers = new Set<Transfer>();
  const counts = { session: new Map(), address: new Map(), person: new Map(), resource: new Map() } satisfies Record<
    (typeof kinds)[number],
    Map<string, number>
  >;

  function count(holder: Holder, change: 1 | -1): void {
    for (const kind of kinds) {
      const name = holder[kind];
      if (name === undefined) continue;
      const of: Map<string, number> = counts[kind];
      const now = (of.get(name) ?? 0) + change;
      if (now === 0) of.delete(name);
      else of.set(name, now);
    }
  }

  return {
    /** In the order in which they began. */
    transfers: transfers as ReadonlySet<Transfer>,
    add(transfer: Transfer): void {
      transfers.add(transfer);
      count(transfer, 1);
    },
    remove(transfer: Transfer): void {
      if (transfers.delete(transfer)) count(transfer, -1);
    },
    /** The number of transfers that belong to the same session, address, person or resource; 0 if that is not known. */
    countOf: (kind: (typeof kinds)[number], holder: Holder): number => counts[kind].get(holder[kind] ?? '') ?? 0,
  };
}
