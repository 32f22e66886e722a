import { createExpiringSecrets } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { createJointWork } from '../memory/joint-work.ts';
import { kinds } from '../memory/kinds.ts';
import { createMarks } from '../memory/marks.ts';

/** Milliseconds for which the shared memory is not asked again about a login that had not ended. */
const notEndedCacheTime = 30_000;

export type EndedLogins = ReturnType<typeof createEndedLogins>;

/**
 * Remembers logins that were ended while their access tokens are still valid. It keeps the last 16,384, each until its
 * last token ends.
 */
export function createEndedLogins(home: Home) {
  const marks = createMarks(home, kinds.endedLogins);
  const notEnded = createExpiringSecrets<true>(notEndedCacheTime, kinds.endedLogins.most, home.now);
  const join = createJointWork<boolean>();
  const hasEnded = (login: string) => join(login, () => marks.isMarked(login));
  return {
    /**
     * Ends a login.
     *
     * @param lifetime milliseconds until its last token ends
     * @param machine the machine whose token ends; undefined for a login of a person. A machine that ends ten thousand
     *   of its tokens evicts its own earlier marks, and not the logouts of people
     */
    async end(login: string, lifetime: number, machine?: string): Promise<void> {
      await marks.mark(login, lifetime, machine);
    },
    /**
     * Whether a login has ended, here or at a relay that shares the memory. If the shared memory does not answer, this
     * process decides by what it knows.
     */
    hasEnded,
    /** As `hasEnded`, but a logout at another relay may count only 30 seconds later. */
    async hasEndedCached(login: string): Promise<boolean> {
      if (marks.isMarkedHere(login)) return true;
      if (home.shared === undefined || notEnded.get(login) === true) return false;
      const isOver = await hasEnded(login);
      if (!isOver) notEnded.set(login, true);
      return isOver;
    },
  };
}
