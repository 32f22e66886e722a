import { hash, randomBytes } from 'node:crypto';
import { createExpiringMap } from './expiring-map.ts';
import type { Home } from './home.ts';
import { type Counted, counterName } from './kinds.ts';

const mostCounters = 65_536;

/** Counts up, from 0 if the value is not a number. Returns the count, and the milliseconds until it restarts. */
const countScript =
  "local n=redis.pcall('INCRBY',KEYS[1],ARGV[1]) if type(n)=='table' then n=tonumber(ARGV[1]) redis.call('SET',KEYS[1],n) end if redis.call('PTTL',KEYS[1])<0 then redis.call('PEXPIRE',KEYS[1],ARGV[2]) end return {n,redis.call('PTTL',KEYS[1])}";

/**
 * Counts by client address. A keyed hash assigns each address to one of 65,536 counters. So memory stays bounded, no
 * counter has to be dropped, and clients cannot choose whose counter they share.
 */
export function createCounters({ now, shared }: Home, counted: Counted) {
  const { lifetime } = counted;
  const counters = createExpiringMap<{ count: number; readonly end: number }>(mostCounters, now);
  const ownSeed = randomBytes(16).toString('hex');
  return {
    /** The name of the counter of an address, the same at all relays that share the memory. */
    hashToCounter(address: string): string {
      const seed = shared?.seed() ?? ownSeed;
      return `${hash('sha256', seed + address, 'buffer').readUInt16LE()}`;
    },
    /** Adds to a count; 0 only reads it. @returns the new count, and the milliseconds until it restarts */
    async add(counter: string, by: number): Promise<{ count: number; wait: number }> {
      const known = counters.get(counter);
      const own = known ?? { count: 0, end: now() + lifetime };
      own.count += by;
      if (known === undefined && by > 0) counters.set(counter, own, lifetime);
      const ownResult = { count: own.count, wait: own.end - now() };
      const command = ['EVAL', countScript, '1', counterName(counted, counter), `${by}`, `${lifetime}`];
      const answer = await shared?.run(command);
      const [count, wait] = Array.isArray(answer?.reply) ? answer.reply.map(Number) : [];
      if (count === undefined || wait === undefined) return ownResult;
      const areNumbers = Number.isSafeInteger(count) && Number.isSafeInteger(wait);
      // A server that lost the counter counts less than this process.
      return areNumbers && count >= ownResult.count ? { count, wait } : ownResult;
    },
  };
}
