import { hash, randomBytes } from 'node:crypto';

/**
 * Maps every address to one of 65,536 counters by a keyed hash. Memory stays bounded, no counter is
 * evicted, and clients cannot choose with whom they share one.
 *
 * @returns the number of an address's counter
 */
export function createRateLimitCounters(): (address: string) => number {
  const seed = randomBytes(16).toString('hex');
  return (address) => hash('sha256', seed + address, 'buffer').readUInt16LE();
}
