import type { Clock } from '../clock.ts';
import type { Kind } from './kinds.ts';
import type { FoundOutcome, SharedCall, SharedMemory } from './shared-memory.ts';

/** Where a relay remembers earlier requests: in its process, and in a server that relays share, if there is one. */
export interface Home {
  readonly now: Clock;
  readonly shared?: SharedMemory | undefined;
}

/**
 * Makes a call that no other relay makes at the same time, or returns what another relay's call has left. Within one
 * process, callers need {@link createJointWork}.
 *
 * @throws {RelayError} `memory_away`, or why the call failed
 */
export async function callOnce(
  { shared }: Home,
  { letter }: Kind,
  key: string,
  call: SharedCall,
): Promise<FoundOutcome> {
  if (shared !== undefined) return await shared.callOnce(letter, key, call);
  return { outcome: await call.call(), age: 0, how: 'led' };
}
