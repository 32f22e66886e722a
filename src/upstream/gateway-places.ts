import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { CountedTransfer, CountedTransfers } from './counted-transfers.ts';

/**
 * The places that a person or resource may have: `freeMultiple` times the free ones, but never fewer than `least` or
 * more than `most`.
 */
const shares = {
  // While more than half of the 1,024 places are free, a quarter of the free ones is at least `most`. After that, the
  // share shrinks, so that a few people cannot fill the gateway.
  person: { least: limits.streamsOfNewcomer, most: limits.streamsOfPerson, freeMultiple: 1 / 4 },
  // A server that hangs keeps all its requests. A quarter always remains for the other resources.
  resource: { least: limits.streamsOfPerson, most: Number.POSITIVE_INFINITY, freeMultiple: 3 },
} as const;

/**
 * Finds a place at the gateway for a transfer. A person always gets up to `limits.streamsOfNewcomer` places, as long as
 * somebody has more: if no place is free, a transfer of the person with most is evicted. Nobody else loses a place.
 *
 * @param most the places of the gateway
 * @throws {RelayError} `overloaded` if its holder has a full share, or no place can be freed
 */
export function makeRoomAtGateway(newcomer: CountedTransfer, transfers: CountedTransfers, most: number): void {
  const free = most - transfers.count();
  /** Whether the newcomer's person or resource has a full share. An unknown one never has. */
  const hasFullShare = (kind: keyof typeof shares) => {
    const share = shares[kind];
    const places = Math.min(share.most, Math.max(share.least, share.freeMultiple * free));
    return transfers.countWithSame(kind, newcomer) >= places;
  };
  const isRefused =
    transfers.countWithSame('session', newcomer) >= limits.streamsOfLogin ||
    transfers.countWithSame('address', newcomer) >= limits.streamsOfAddress ||
    hasFullShare('person');
  if (isRefused) throw new RelayError('overloaded');
  const isResourceFull = hasFullShare('resource');
  if (free > 0 && !isResourceFull) return;
  const isGuaranteedPlace = transfers.countWithSame('person', newcomer) < limits.streamsOfNewcomer;
  if (!isGuaranteedPlace) throw new RelayError('overloaded');
  const inFlight = transfers.all();
  const candidates = isResourceFull ? inFlight.filter(({ resource }) => resource === newcomer.resource) : inFlight;
  const transferToEnd = findTransferToEnd(candidates);
  if (transferToEnd === undefined) throw new RelayError('overloaded');
  transferToEnd.evict();
}

/**
 * Finds the transfer to end. It belongs to the person with most transfers, and is the youngest that only listens, or
 * else the youngest.
 *
 * @param candidates in the order in which they began
 * @returns undefined if no person has more than `limits.streamsOfNewcomer`
 */
function findTransferToEnd(candidates: readonly CountedTransfer[]): CountedTransfer | undefined {
  const withPerson = candidates.filter(({ person }) => person !== undefined);
  const byPerson = [...Map.groupBy(withPerson, ({ person }) => person).values()];
  const most = byPerson.toSorted((left, right) => right.length - left.length)[0] ?? [];
  if (most.length <= limits.streamsOfNewcomer) return undefined;
  return most.findLast(({ isListening }) => isListening) ?? most.at(-1);
}
