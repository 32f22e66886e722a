import { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';

/** Takes the room of a request until its response has ended. @throws {RelayError} `overloaded` */
export type TakeShare = (ctx: Pick<Context, 'res'>, session: string) => void;

/**
 * Limits the requests of each session that are in flight. A client that reads its responses slowly leaves room for
 * others.
 *
 * @param most requests of one session
 */
export function shareBySession(most: number): TakeShare {
  const inFlight = new Map<string, number>();
  return ({ res }, session) => {
    const before = inFlight.get(session) ?? 0;
    if (before >= most) throw new RelayError('overloaded');
    inFlight.set(session, before + 1);
    const leave = () => {
      const now = inFlight.get(session) ?? 0;
      if (now > 1) inFlight.set(session, now - 1);
      else inFlight.delete(session);
    };
    // The client may already be gone.
    if (res.closed) leave();
    else res.once('close', leave);
  };
}
