import { hash, randomBytes } from 'node:crypto';

/**
 * Gives every address one of 65,536 counters, by a hash that nobody outside can compute: however many
 * addresses there are, memory stays bounded, no counter is given up for another, and nobody can choose
 * whose counter to share.
 *
 * @returns the number of an address's counter
 */
export function createAddressCounters(): (address: string) => number {
  const seed = randomBytes(16).toString('hex');
  return (address) => hash('sha256', seed + address, 'buffer').readUInt16LE();
}
