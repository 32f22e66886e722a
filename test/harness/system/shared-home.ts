import type { KeyRing } from '../../../src/keys.ts';
import { createConnection } from '../../../src/memory/connection.ts';
import type { Home } from '../../../src/memory/home.ts';
import { createLink } from '../../../src/memory/link.ts';
import { createSharedMemory } from '../../../src/memory/shared.ts';

/**
 * The memory of a relay that shares it at this address.
 *
 * @param how.callTime milliseconds. Locks last for five seconds longer
 * @param how.fail called if the server goes away, or sends what no relay has written
 */
export async function sharedHome(
  address: string,
  keys: KeyRing,
  { callTime = 1000, fail = (_: string) => {}, now = Date.now } = {},
): Promise<Home & { close(): Promise<void> }> {
  const link = createLink(await createConnection({ address }), {
    command: () => {},
    garbage: () => fail('garbage'),
    away: fail,
    back: () => {},
  });
  await link.untilBack();
  const shared = createSharedMemory(link, () => {});
  shared.configure(keys, callTime);
  return { now, shared, close: () => shared.close() };
}
