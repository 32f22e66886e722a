import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';

/**
 * What a call is for: an endpoint of the provider, or a server behind the gateway. `access` says who may log in; `api` is
 * the provider's API, which pages use through the relay.
 */
export type Endpoint = 'authorize' | 'token' | 'user' | 'access' | 'metadata' | 'revocation' | 'api' | 'resource';

/** Who a transfer belongs to. */
export interface Holder {
  /** A session, or the login of a token. */
  readonly session: string;
  /** The subscriber, if the address is known to be the caller's own. */
  readonly address: string | undefined;
}

/** A call to a provider's API, or to a server behind the gateway, which takes as long as its client reads and sends. */
interface Transfer extends Holder {
  /** Bytes a minute that the client lets pass, `limits.apiOrdinaryPace` at most. */
  pace(): number;
  /** Ends it for the sake of another one, and gives its room back at once. */
  giveWay(): void;
}

/** Calls that share a fraction of the room. The rest is left to all other calls. */
const parts: readonly { readonly of: readonly Endpoint[] | 'all'; readonly fraction: number }[] = [
  { of: 'all', fraction: 1 },
  // Anyone can cause these calls at any rate. Logins always find room.
  { of: ['user', 'revocation', 'api'], fraction: 3 / 4 },
  // These calls take as long as their readers. User lookups always find room.
  { of: ['api'], fraction: 1 / 2 },
];

/** What a transfer may have of a room, by where it goes. If it gives way, it may end for the sake of another one. */
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
} as const;
type Share = (typeof shares)[keyof typeof shares];

/** The room for calls. @param most calls in flight; further ones are refused. @param share what a transfer may have */
export function createRoom(most: number, share: Share = shares.api) {
  const counted = parts.map((part) => ({ ...part, most: Math.ceil(most * part.fraction), now: 0 }));
  const countersOf = (endpoint: Endpoint) => counted.filter(({ of }) => of === 'all' || of.includes(endpoint));
  const transfers = new Set<Transfer>();
  /** From this number on, transfers give way: it is half of what calls to an API may have. */
  const crowd = (counted.at(-1)?.most ?? most) / 2;

  const isFull = (endpoint: Endpoint) => countersOf(endpoint).some(({ now, most }) => now >= most);

  /** @throws {RelayError} `overloaded` if there is no room for another call */
  function expect(endpoint: Endpoint): void {
    if (isFull(endpoint)) throw new RelayError('overloaded');
  }

  /**
   * Takes the room of one call.
   *
   * @returns gives the room back; call it once
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
    /** Takes room for a transfer, within its share. Another may give way to it. @returns and throws as `take` */
    takeFor(transfer: Transfer): () => void {
      const isCrowded = share.givesWay && transfers.size >= crowd;
      makeRoomFor(transfer, [...transfers], share, isFull(share.endpoint), isCrowded);
      // A transfer that gave way has returned its room already.
      const leave = take(share.endpoint);
      transfers.add(transfer);
      return () => {
        transfers.delete(transfer);
        leave();
      };
    },
    inFlight: () => counted[0]?.now ?? 0,
  };
}

/** Ends another transfer if need be. @throws {RelayError} `overloaded` if the newcomer's session or address has its share */
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
 * The transfer that gives way: the slowest of the holders that have more transfers than the newcomer. So nobody can end
 * the transfers of others by asking often.
 *
 * @param kinds what counts as a holder
 * @param isFull whether also one that is not slow gives way
 */
function loserTo(
  newcomer: Transfer,
  transfers: readonly Transfer[],
  kinds: readonly (keyof Holder)[],
  isFull: boolean,
): Transfer | undefined {
  const groups = kinds.map((kind) => {
    const known = transfers.filter((one) => one[kind] !== undefined);
    return [kind, Map.groupBy(known, (one) => one[kind])] as const;
  });
  /** The number of transfers that a holder has. */
  const heldBy = (holder: Holder) => Math.max(...groups.map(([kind, group]) => group.get(holder[kind])?.length ?? 0));
  const own = heldBy(newcomer);
  const isSlow = (one: Transfer) => one.pace() < limits.apiOrdinaryPace;
  const larger = transfers.filter((one) => heldBy(one) > own);
  // Who would then have less than the newcomer is spared as long as anybody else has more.
  const greedy = larger.filter((one) => heldBy(one) > own + 1);
  const slow = slowest(greedy.filter(isSlow));
  if (slow !== undefined || !isFull) return slow;
  // The room is needed: one of those who have most gives way, though it is not slow.
  const most = Math.max(...greedy.map(heldBy));
  return slowest(greedy.filter((one) => heldBy(one) === most)) ?? slowest(larger.filter(isSlow));
}

function slowest(transfers: readonly Transfer[]): Transfer | undefined {
  return transfers.toSorted((one, other) => one.pace() - other.pace())[0];
}
