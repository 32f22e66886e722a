import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { makeRoomAtGateway } from './gateway-share.ts';
import { createHoldings, type Holder, type Transfer } from './holdings.ts';

/** The destination of a call. `access` asks who may log in; `api` is the provider's API, for pages. */
export type Endpoint = 'authorize' | 'token' | 'user' | 'access' | 'metadata' | 'revocation' | 'api' | 'resource';

/** Calls that share a fraction of the room. The rest is left to all other calls. */
const parts: readonly { readonly of: readonly Endpoint[] | 'all'; readonly fraction: number }[] = [
  { of: 'all', fraction: 1 },
  // Anyone can cause these calls at any rate. Logins always find room.
  { of: ['user', 'revocation', 'api'], fraction: 3 / 4 },
  // These calls last as long as their readers. User lookups always find room.
  { of: ['api'], fraction: 1 / 2 },
];

/**
 * The room for calls.
 *
 * @param most calls in flight. Further ones are refused
 * @param to the destination of the transfers among them
 */
export function createRoom(most: number, to: 'api' | 'resource' = 'api') {
  const counted = parts.map((part) => ({ ...part, most: Math.ceil(most * part.fraction), now: 0 }));
  const countersOf = (endpoint: Endpoint) => counted.filter(({ of }) => of === 'all' || of.includes(endpoint));
  const holdings = createHoldings();
  /** From this number on, slow transfers are ended to make room: half of what calls to an API may have. */
  const crowd = (counted.at(-1)?.most ?? most) / 2;

  const isFull = (endpoint: Endpoint) => countersOf(endpoint).some(({ now, most }) => now >= most);

  /** @throws {RelayError} `overloaded` if there is no room for another call */
  function expect(endpoint: Endpoint): void {
    if (isFull(endpoint)) throw new RelayError('overloaded');
  }

  /** Takes room for one call. @returns frees it; to be called once @throws {RelayError} `overloaded` */
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
    /**
     * Takes room for a transfer, within its share. Another one may be ended for it. @returns and throws as `take` does
     */
    takeFor(transfer: Transfer): () => void {
      const { transfers } = holdings;
      if (to === 'resource') makeRoomAtGateway(transfer, holdings, most);
      else makeRoomFor(transfer, [...transfers], isFull('api'), transfers.size >= crowd);
      // A transfer that was ended for another one has freed its room already.
      const leave = take(to);
      holdings.add(transfer);
      return () => {
        holdings.remove(transfer);
        leave();
      };
    },
    inFlight: () => counted[0]?.now ?? 0,
  };
}

/**
 * Ends another transfer to the API if necessary. @throws {RelayError} `overloaded` if the newcomer's session or address
 * has a full share
 */
function makeRoomFor(newcomer: Transfer, transfers: readonly Transfer[], isFull: boolean, isCrowded: boolean): void {
  const { session, address } = newcomer;
  const ofSession = transfers.filter((one) => one.session === session);
  if (ofSession.length >= limits.apiCallsOfSession) throw new RelayError('overloaded');
  const ofAddress = transfers.filter((one) => address !== undefined && one.address === address);
  if (ofAddress.length >= limits.apiCallsOfAddress) {
    // Several people may share the address.
    const loser = loserTo(newcomer, ofAddress, ['session'], true);
    if (!loser) throw new RelayError('overloaded');
    loser.giveWay();
  } else if (isCrowded) loserTo(newcomer, transfers, ['session', 'address'], isFull)?.giveWay();
}

/**
 * The transfer to end: the slowest of those whose holder has more transfers than the newcomer. So nobody can end other
 * people's transfers by asking often.
 *
 * @param kinds what counts as a holder
 * @param isFull whether even a fast one may be ended
 */
function loserTo(
  newcomer: Transfer,
  transfers: readonly Transfer[],
  kinds: readonly ('session' | 'address')[],
  isFull: boolean,
): Transfer | undefined {
  const groups = kinds.map((kind) => {
    const known = transfers.filter((one) => one[kind] !== undefined);
    return [kind, Map.groupBy(known, (one) => one[kind])] as const;
  });
  const heldBy = (holder: Holder) => Math.max(...groups.map(([kind, group]) => group.get(holder[kind])?.length ?? 0));
  const own = heldBy(newcomer);
  const isSlow = (one: Transfer) => one.pace() < limits.apiOrdinaryPace;
  const larger = transfers.filter((one) => heldBy(one) > own);
  // Spare a holder who would then have less than the newcomer, as long as another holder has more.
  const greedy = larger.filter((one) => heldBy(one) > own + 1);
  const slow = slowest(greedy.filter(isSlow));
  if (slow !== undefined || !isFull) return slow;
  // The room is needed, so end a transfer of those with most, even if it is fast.
  const most = Math.max(...greedy.map(heldBy));
  return slowest(greedy.filter((one) => heldBy(one) === most)) ?? slowest(larger.filter(isSlow));
}

function slowest(transfers: readonly Transfer[]): Transfer | undefined {
  return transfers.toSorted((one, other) => one.pace() - other.pace())[0];
}
