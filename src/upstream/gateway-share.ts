import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { Holder, Holdings, Transfer } from './holdings.ts';

/**
 * The places that a holder may have: `ofFree` times the free ones, but never fewer than `least` or more than `most`.
 */
const shares = {
  // Once half of the places are taken, a person may have less than `most`, so that a few people cannot fill the
  // gateway.
  person: { least: limits.streamsOfNewcomer, most: limits.streamsOfPerson, ofFree: 1 / 4 },
  // A server that hangs keeps all its requests. A quarter always remains for the other resources.
  resource: { least: limits.streamsOfPerson, most: Number.POSITIVE_INFINITY, ofFree: 3 },
} as const;

/**
 * Finds a place at the gateway for a transfer. A person always gets up to `limits.streamsOfNewcomer` places, as long as
 * somebody has more: if none is free, a transfer of the person with most ends. Nobody else loses a place.
 *
 * @param most the places of the gateway
 * @throws {RelayError} `overloaded` if its holder has a full share, or no place can be freed
 */
export function makeRoomAtGateway(newcomer: Transfer, holdings: Holdings, most: number): void {
  const free = most - holdings.transfers.size;
  /** Whether a holder has a full share. An unknown holder has none. */
  const isFull = (kind: keyof typeof shares) => {
    const share = shares[kind];
    const ofHolder = Math.min(share.most, Math.max(share.least, share.ofFree * free));
    return holdings.countOf(kind, newcomer) >= ofHolder;
  };
  const hasShare =
    holdings.countOf('session', newcomer) >= limits.streamsOfLogin ||
    holdings.countOf('address', newcomer) >= limits.streamsOfAddress ||
    isFull('person');
  if (hasShare) throw new RelayError('overloaded');
  const isResourceFull = isFull('resource');
  if (free > 0 && !isResourceFull) return;
  const isNewcomer = holdings.countOf('person', newcomer) < limits.streamsOfNewcomer;
  const loser = isNewcomer && loserOf(isResourceFull ? ofSameResource(newcomer, holdings) : [...holdings.transfers]);
  if (!loser) throw new RelayError('overloaded');
  loser.giveWay();
}

const ofSameResource = ({ resource }: Holder, { transfers }: Holdings) =>
  [...transfers].filter((one) => one.resource === resource);

/** The transfer to end: one of the person with most, if possible a listening one, or else the youngest. */
function loserOf(transfers: readonly Transfer[]): Transfer | undefined {
  const known = transfers.filter(({ person }) => person !== undefined);
  const byPerson = [...Map.groupBy(known, ({ person }) => person).values()];
  const most = byPerson.toSorted((one, other) => other.length - one.length)[0] ?? [];
  if (most.length <= limits.streamsOfNewcomer) return undefined;
  return most.findLast(({ isListening }) => isListening) ?? most.at(-1);
}
