import { createJoint, createMarks, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import { createRecent } from '../memory/recent.ts';

/** Milliseconds before the shared memory is asked about a login again. */
const answerTime = 30_000;

export type EndedLogins = ReturnType<typeof createEndedLogins>;

/** Remembers logins that have ended before their access tokens: the last 16,384, each until its last token ends. */
export function createEndedLogins(home: Home) {
  const marks = createMarks(home, kinds.endedLogins);
  const notEnded = createRecent<true>(answerTime, kinds.endedLogins.most, home.now);
  const join = createJoint<boolean>();
  const ask = (login: string) => join(login, () => marks.isMarked(login));
  return {
    /**
     * Ends a login.
     *
     * @param lifetime milliseconds until its last token ends
     * @param machine the owner of a machine's token: a machine that ends ten thousand of its tokens must not evict the
     *   logouts of people
     */
    async end(login: string, lifetime: number, machine?: string): Promise<void> {
      await marks.mark(login, lifetime, machine);
    },
    /**
     * Whether a login has ended, here or at a relay that shares the memory. If the server does not answer, what this
     * process knows counts.
     */
    hasEnded: ask,
    /** As `hasEnded`, but the answer may be 30 seconds old. */
    async hasEndedAsKnown(login: string): Promise<boolean> {
      if (marks.isMarkedHere(login)) return true;
      if (home.shared === undefined || notEnded.get(login) === true) return false;
      const isOver = await ask(login);
      if (!isOver) notEnded.set(login, true);
      return isOver;
    },
  };
}
