import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { type CountedTransfer, createCountedTransfers, type Holder } from './counted-transfers.ts';
import { makeRoomAtGateway } from './gateway-places.ts';

/** The destination of a call. `access` asks who may log in; `api` is the provider's API, for pages. */
export type Endpoint = 'authorize' | 'token' | 'user' | 'access' | 'metadata' | 'revocation' | 'api' | 'resource';

/**
 * Calls that together may take a fraction of the room. The rest is left to all other calls. `createRoom` expects all
 * calls in the first row, and those to the API alone in the last.
 */
const callShares: readonly { readonly endpoints: readonly Endpoint[] | 'all'; readonly fraction: number }[] = [
  { endpoints: 'all', fraction: 1 },
  // Anyone can cause these calls at any rate. Logins always find room.
  { endpoints: ['user', 'revocation', 'api'], fraction: 3 / 4 },
  // These calls last as long as their readers. User lookups always find room.
  { endpoints: ['api'], fraction: 1 / 2 },
];

/**
 * Limits the calls in flight.
 *
 * @param most calls in flight. Further ones are refused
 * @param destination the destination of the transfers among them
 */
export function createRoom(most: number, destination: 'api' | 'resource' = 'api') {
  const counters = callShares.map(({ endpoints, fraction }) => ({
    endpoints,
    most: Math.ceil(most * fraction),
    inFlight: 0,
  }));
  /** The counters of the shares to which a call belongs. */
  const countersFor = (endpoint: Endpoint) =>
    counters.filter(({ endpoints }) => endpoints === 'all' || endpoints.includes(endpoint));
  const transfers = createCountedTransfers();
  // The last row of `callShares` is for the API alone.
  const mostToApi = counters.at(-1)?.most ?? most;
  /** From this number of transfers on, slow ones are ended to make room. */
  const crowdedFrom = mostToApi / 2;

  const isFull = (endpoint: Endpoint) => countersFor(endpoint).some((counter) => counter.inFlight >= counter.most);

  /** @throws {RelayError} `overloaded` if there is no room for another call */
  function expect(endpoint: Endpoint): void {
    if (isFull(endpoint)) throw new RelayError('overloaded');
  }

  /** Takes room for one call. @returns a function that frees it, to be called once @throws {RelayError} `overloaded` */
  function take(endpoint: Endpoint): () => void {
    expect(endpoint);
    const taken = countersFor(endpoint);
    for (const counter of taken) counter.inFlight += 1;
    return () => {
      for (const counter of taken) counter.inFlight -= 1;
    };
  }

  return {
    expect,
    take,
    /**
     * Takes room for a transfer, within its share. Another transfer may be ended for it.
     *
     * @returns a function that frees the room, to be called once
     * @throws {RelayError} `overloaded`
     */
    takeForTransfer(transfer: CountedTransfer): () => void {
      if (destination === 'resource') makeRoomAtGateway(transfer, transfers, most);
      else makeRoomAtApi(transfer, transfers.all(), isFull('api'), transfers.count() >= crowdedFrom);
      // A transfer that was ended for another one has freed its room already.
      const free = take(destination);
      transfers.add(transfer);
      return () => {
        transfers.remove(transfer);
        free();
      };
    },
    // The first row of `callShares` is for all calls.
    inFlight: () => counters[0]?.inFlight ?? 0,
  };
}

/**
 * Ends another transfer to the API if necessary.
 *
 * @param isFull whether there is no room for another transfer
 * @param isCrowded whether slow transfers are ended before the room is full
 * @throws {RelayError} `overloaded` if the newcomer's session or address has a full share
 */
function makeRoomAtApi(
  newcomer: CountedTransfer,
  transfers: readonly CountedTransfer[],
  isFull: boolean,
  isCrowded: boolean,
): void {
  const { session, address } = newcomer;
  const withSameSession = transfers.filter((transfer) => transfer.session === session);
  if (withSameSession.length >= limits.apiCallsOfSession) throw new RelayError('overloaded');
  const withSameAddress = transfers.filter((transfer) => address !== undefined && transfer.address === address);
  if (withSameAddress.length >= limits.apiCallsOfAddress) {
    // Several people may share the address.
    const transferToEnd = findTransferToEnd(newcomer, withSameAddress, ['session', 'person'], true);
    if (transferToEnd === undefined) throw new RelayError('overloaded');
    transferToEnd.evict();
  } else if (isCrowded) findTransferToEnd(newcomer, transfers, ['session', 'address', 'person'], isFull)?.evict();
}

/**
 * Finds the transfer to end: the slowest transfer whose holder has more transfers than the newcomer's. So nobody can
 * end other people's transfers by asking often. A person who is known counts as one holder, however many sessions they
 * have.
 *
 * @param kinds what counts as a holder
 * @param mayBeFast whether even a fast transfer may be ended, because the room is needed
 */
function findTransferToEnd(
  newcomer: CountedTransfer,
  transfers: readonly CountedTransfer[],
  kinds: readonly ('session' | 'address' | 'person')[],
  mayBeFast: boolean,
): CountedTransfer | undefined {
  const groups = kinds.map((kind) => {
    const known = transfers.filter((transfer) => transfer[kind] !== undefined);
    return { kind, byName: Map.groupBy(known, (transfer) => transfer[kind]) };
  });
  const countHeldBy = (holder: Holder) =>
    Math.max(...groups.map(({ kind, byName }) => byName.get(holder[kind])?.length ?? 0));
  const ownCount = countHeldBy(newcomer);
  const isSlow = (transfer: CountedTransfer) => transfer.pace() < limits.apiOrdinaryPace;
  const ofLargerHolders = transfers.filter((transfer) => countHeldBy(transfer) > ownCount);
  // Spare a holder who would then have less than the newcomer, as long as another holder has more.
  const ofMuchLargerHolders = ofLargerHolders.filter((transfer) => countHeldBy(transfer) > ownCount + 1);
  const slow = findSlowest(ofMuchLargerHolders.filter(isSlow));
  if (slow !== undefined || !mayBeFast) return slow;
  const largestCount = Math.max(...ofMuchLargerHolders.map(countHeldBy));
  const ofLargestHolders = ofMuchLargerHolders.filter((transfer) => countHeldBy(transfer) === largestCount);
  return findSlowest(ofLargestHolders) ?? findSlowest(ofLargerHolders.filter(isSlow));
}

function findSlowest(transfers: readonly CountedTransfer[]): CountedTransfer | undefined {
  return transfers.toSorted((left, right) => left.pace() - right.pace())[0];
}
