import { createJoint, createMarks, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import { createRecent } from '../memory/recent.ts';

/** Milliseconds for which a process does not ask the shared memory about a login again. */
const answerTime = 30_000;

/** The logins that have ended, while their access tokens would still be good. */
export type EndedLogins = ReturnType<typeof createEndedLogins>;

/** Remembers the last 16,384 at most, each until its last token ends. */
export function createEndedLogins(home: Home) {
  const marks = createMarks(home, kinds.endedLogins);
  const notEnded = createRecent<true>(answerTime, kinds.endedLogins.most, home.now);
  const join = createJoint<boolean>();
  const ask = (login: string) => join(login, () => marks.isMarked(login));
  return {
    /**
     * Ends a login.
     *
     * @param lifetime milliseconds that its tokens have left at most
     * @param machine whose token it is: one that ends ten thousand must not make the relay forget the logouts of people
     */
    async end(login: string, lifetime: number, machine?: string): Promise<void> {
      await marks.mark(login, lifetime, machine);
    },
    /** Whether a login has ended here, or at a relay that shares the memory. If that is away, what is known here counts. */
    hasEnded: ask,
    /** As `hasEnded`, but as of at most 30 seconds ago: another relay may have ended the login since. */
    async hasEndedAsKnown(login: string): Promise<boolean> {
      if (marks.isMarkedHere(login)) return true;
      if (home.shared === undefined || notEnded.get(login) === true) return false;
      const isOver = await ask(login);
      if (!isOver) notEnded.set(login, true);
      return isOver;
    },
  };
}
