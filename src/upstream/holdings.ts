export interface Holder {
  /** A session, or the login of a token. Undefined for a browser at a resource. */
  readonly session: string | undefined;
  /** The client address, unless it may be a proxy's. */
  readonly address: string | undefined;
  /** The person or machine, with their provider. Undefined for a session, which does not know it. */
  readonly person?: string | undefined;
  /** The resource that it goes to. Undefined if there is only one. */
  readonly resource?: string | undefined;
}

/** A call to a provider's API or to a server behind the gateway, which lasts as long as its client reads and sends. */
export interface Transfer extends Holder {
  /** Whether its client waits for events, and reconnects by itself after their end. */
  readonly isListening?: boolean | undefined;
  /** Bytes a minute that the client passes, at most `limits.apiOrdinaryPace`. */
  pace(): number;
  /** Ends it to make room for another one, and frees its place at once. */
  giveWay(): void;
}

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
    /** The number of transfers with the same session, address, person or resource; 0 if that is unknown. */
    countOf: (kind: (typeof kinds)[number], holder: Holder): number => counts[kind].get(holder[kind] ?? '') ?? 0,
  };
}
