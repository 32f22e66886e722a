import { hash, randomBytes } from 'node:crypto';

/**
 * Maps every address to one of 65,536 counters by a keyed hash. Memory stays bounded whatever the number
 * of addresses, no counter is dropped for another, and clients cannot choose
 * whose counter to share.
 *
 * @returns the number of an address's counter
 */
export function createAddressCounters(): (address: string) => number {
  const seed = randomBytes(16).toString('hex');
  return (address) => hash('sha256', seed + address, 'buffer').readUInt16LE();
}
