import { randomBytes } from 'node:crypto';
import { createExpiringMap } from './expiring-map.ts';

/** Creates a value that no other lock has. It begins with a letter with which no sealed text begins. */
export const createLock = () => `L${randomBytes(9).toString('base64url')}`;

/** Whether a value in the shared memory is a lock of a relay. */
export function isLock(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('L');
}

/** Remembers the locks of other relays. @param now milliseconds */
export function createForeignLocks(most: number, now: () => number) {
  const endsByName = createExpiringMap<{ value: unknown; end: number }>(most, now);
  return {
    /**
     * Whether a value is a lock that another relay may still hold. Its time is measured from when this relay first saw
     * it.
     *
     * @param lockTime milliseconds for which relays hold a lock at most, even if the server keeps it for longer
     */
    isHeld(name: string, value: unknown, lockTime: number): boolean {
      const known = endsByName.get(name);
      const isKnown = known !== undefined && known.value === value;
      const end = isKnown ? known.end : now() + lockTime;
      const isHeld = isLock(value) && now() < end;
      if (isHeld) endsByName.set(name, { value, end }, 2 * lockTime);
      else endsByName.delete(name);
      return isHeld;
    },
    /** Milliseconds until the lock of a name ends. 0 or less if it has ended, or was never seen. */
    timeLeft: (name: string) => (endsByName.get(name)?.end ?? 0) - now(),
  };
}
