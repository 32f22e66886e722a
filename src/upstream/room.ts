import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';

/**
 * What a call is for: an endpoint of the provider, or a server behind the gateway. `access` says who may log in; `api` is
 * the provider's API, which pages use through the relay.
 */
export type Endpoint =
  | 'authorize'
  | 'token'
  | 'user'
  | 'access'
  | 'metadata'
  | 'revocation'
  | 'api'
  | 'resource';

/** Who a transfer belongs to. */
export interface Holder {
  /** A session, or the login of a token. */
  readonly session: string;
  /** The client address, if it is known to be the client's own. */
  readonly address: string | undefined;
}

/** What a transfer may have of a room. */
interface Share {
  readonly endpoint: 'api' | 'resource';
  readonly ofSession: number;
  readonly ofAddress: number;
  /** Whether a transfer may end for the sake of another one. */
  readonly givesWay: boolean;
}

/** A call to a provider's API, or to a server behind the gateway, which takes as long as its client reads and sends. */
interface Transfer extends Holder {
  /** Bytes a minute that the client lets pass, `limits.apiOrdinaryPace` at most. */
  pace(): number;
  /** Ends it for the sake of another one, and gives its room back at once. */
  giveWay(): void;
}

/** Calls that share a part of the room. The rest is left to all others. */
const parts: readonly { readonly of: readonly Endpoint[] | 'all'; readonly share: number }[] = [
  { of: 'all', share: 1 },
  // Anyone can cause these at any rate. Logins always find room.
  { of: ['user', 'revocation', 'api'], share: 3 / 4 },
  // These take as long as their readers. User lookups always find room.
  { of: ['api'], share: 1 / 2 },
];

/** What each transfer may have, by where it goes. */
export const shares = {
  api: {
    endpoint: 'api',
    ofSession: limits.apiCallsOfSession,
    ofAddress: limits.apiCallsOfAddress,
    givesWay: true,
  },
  resource: {
    endpoint: 'resource',
    ofSession: limits.streamsOfLogin,
    ofAddress: limits.streamsOfAddress,
    givesWay: false,
  },
} as const satisfies Readonly<Record<string, Share>>;

/** The room for calls. @param most calls that may be in flight; further ones are refused, never queued */
export function createRoom(most: number, each: Share = shares.api) {
  const counted = parts.map(({ of, share }) => ({ of, most: Math.ceil(most * share), now: 0 }));
  const countersOf = (endpoint: Endpoint) =>
    counted.filter(({ of }) => of === 'all' || of.includes(endpoint));
  const transfers = new Set<Transfer>();
  const crowd = (counted.at(-1)?.most ?? most) / 2;

  const isFull = (endpoint: Endpoint) => countersOf(endpoint).some(({ now, most }) => now >= most);

  /** @throws {RelayError} `overloaded` if there is no room for another call */
  function expect(endpoint: Endpoint): void {
    if (isFull(endpoint)) throw new RelayError('overloaded');
  }

  /**
   * Takes the room of one call.
   *
   * @returns gives it back; call it once
   * @throws {RelayError} `overloaded`
   */
  function take(endpoint: Endpoint): () => void {
    expect(endpoint);
    const counters = countersOf(endpoint);
    for (const counter of counters) counter.now += 1;
    return () => {
      for (const counter of counters) counter.now -= 1;
    };
  }

  return {
    expect,
    take,
    /** The same for a transfer, within its share. Another one may give way to it. */
    takeFor(transfer: Transfer): () => void {
      const isCrowded = each.givesWay && transfers.size >= crowd;
      makeRoomFor(transfer, [...transfers], each, isFull(each.endpoint), isCrowded);
      const leave = take(each.endpoint);
      transfers.add(transfer);
      return () => {
        transfers.delete(transfer);
        leave();
      };
    },
    inFlight: () => counted[0]?.now ?? 0,
  };
}

/** @throws {RelayError} `overloaded` if its session or its address has all that it may have */
function makeRoomFor(
  newcomer: Transfer,
  transfers: readonly Transfer[],
  { ofSession: mostOfSession, ofAddress: mostOfAddress, givesWay }: Share,
  isFull: boolean,
  isCrowded: boolean,
): void {
  const { session, address } = newcomer;
  const ofSession = transfers.filter((one) => one.session === session);
  if (ofSession.length >= mostOfSession) throw new RelayError('overloaded');
  const ofAddress = transfers.filter((one) => address !== undefined && one.address === address);
  if (ofAddress.length >= mostOfAddress) {
    // Several people may share the address.
    const loser = givesWay && loserTo(newcomer, ofAddress, ['session'], true);
    if (!loser) throw new RelayError('overloaded');
    loser.giveWay();
  } else if (isCrowded) loserTo(newcomer, transfers, ['session', 'address'], isFull)?.giveWay();
}

/**
 * The transfer that gives way: the slowest of those who have more of them than the newcomer. So nobody can end the
 * transfers of others by asking often.
 *
 * @param isFull whether also one that is not slow gives way
 */
function loserTo(
  newcomer: Transfer,
  transfers: readonly Transfer[],
  kinds: readonly (keyof Holder)[],
  isFull: boolean,
): Transfer | undefined {
  const groups = kinds.map((kind) => Map.groupBy(transfers, (one) => one[kind]));
  const heldBy = (holder: Holder) =>
    Math.max(
      ...kinds.map((kind, index) => {
        const name = holder[kind];
        return name === undefined ? 0 : (groups[index]?.get(name)?.length ?? 0);
      }),
    );
  const own = heldBy(newcomer);
  const isSlow = (one: Transfer) => one.pace() < limits.apiOrdinaryPace;
  const others = transfers.filter((one) => heldBy(one) > own);
  // Who would have less than the newcomer then is spared as long as anybody else has more.
  const greedy = others.filter((one) => heldBy(one) > own + 1);
  const slow = slowest(greedy.filter(isSlow));
  if (slow !== undefined || !isFull) return slow;
  const most = Math.max(...greedy.map(heldBy));
  return slowest(greedy.filter((one) => heldBy(one) === most)) ?? slowest(others.filter(isSlow));
}

function slowest(transfers: readonly Transfer[]): Transfer | undefined {
  return transfers.toSorted((one, other) => one.pace() - other.pace())[0];
}
