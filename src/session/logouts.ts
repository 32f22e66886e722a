import type { Clock } from '../clock.ts';

const most = 16_384;

/** The sessions that ended in this process. A copy of their cookies opens nothing here. */
export type Logouts = ReturnType<typeof createLogouts>;

/** Remembers the last 16,384 sessions at most. */
export function createLogouts(now: Clock) {
  // Oldest first.
  const ends = new Map<string, number>();
  const isPast = (until: number) => until * 1000 <= now();

  return {
    /**
     * @param session its id
     * @param until when the session ends at the latest, in seconds since 1970
     */
    add(session: string, until: number): void {
      ends.delete(session);
      for (const [oldest, end] of ends) {
        if (ends.size < most && !isPast(end)) break;
        ends.delete(oldest);
      }
      ends.set(session, until);
    },
    has(session: string): boolean {
      const until = ends.get(session);
      return until !== undefined && !isPast(until);
    },
  };
}
