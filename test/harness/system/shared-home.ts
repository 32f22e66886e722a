import { expect } from 'chai';
import type { Home } from '../../../src/memory/home.ts';
import { createRedisClient } from '../../../src/memory/redis-client.ts';
import { watchRedis } from '../../../src/memory/redis-outages.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import type { KeyRing } from '../../../src/sealing/keys.ts';
import { eventually } from './eventually.ts';

/** Milliseconds. A relay waits for seconds. */
const unusablePause = 30;

/**
 * The memory of a relay that shares it at this address.
 *
 * @param how.callTime milliseconds. Locks last for five seconds longer
 * @param how.fail called if the server goes away, or sends what no relay has written
 * @param how.isThere whether to wait until it can be used
 */
export async function sharedHome(
  address: string,
  keys: KeyRing,
  { callTime = 1000, fail = (_: string) => {}, now = Date.now, isThere = true } = {},
): Promise<Home & { close(): Promise<void> }> {
  let isStarted = false;
  const observer = {
    garbage: () => fail('garbage'),
    unusable: (reason: string) => fail(`unusable ${reason}`),
    away: (reason: string) => isStarted && fail(reason),
    back: () => {},
  };
  const server = watchRedis(await createRedisClient({ address }), observer, unusablePause);
  if (isThere) await eventually(async () => expect(server.isAway()).to.equal(false));
  isStarted = true;
  // The value that an observer returns is not a result.
  const shared = createSharedMemory(server, () => ({ left: {} }), now);
  shared.configure(keys, callTime);
  return { now, shared, close: () => shared.close() };
}
