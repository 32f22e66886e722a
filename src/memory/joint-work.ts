import type { Home } from './home.ts';
import type { Kind } from './kinds.ts';
import type { FoundOutcome, SharedCall } from './shared-memory.ts';

/** Creates a function that does the work of a key once for all callers that come while it is in flight. */
export function createJointWork<Result>() {
  const inFlight = new Map<string, Promise<Result>>();
  return (key: string, work: () => Promise<Result>): Promise<Result> => {
    const result = inFlight.get(key) ?? work().finally(() => inFlight.delete(key));
    inFlight.set(key, result);
    return result;
  };
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
  sharedCall: SharedCall,
): Promise<FoundOutcome> {
  if (shared !== undefined) return await shared.callOnce(letter, key, sharedCall);
  return { outcome: await sharedCall.call(), age: 0, how: 'led' };
}
