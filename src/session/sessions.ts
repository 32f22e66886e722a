import type { Context } from '../http/context.ts';
import type { KeyRing } from '../keys.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import {
  createSessionSeal,
  isOver,
  newSession,
  renewedSession,
  type SessionContent,
  type SessionLifetimes,
} from './content.ts';
import { createSessionCookies } from './cookies.ts';
import type { Logouts } from './logouts.ts';

/** The sessions of front ends that hold no token. Nothing is stored: a cookie holds its session, sealed. */
export interface Sessions {
  /**
   * Starts the session of a login. It replaces the front end's earlier one.
   *
   * @param login.registration the audience of the registration
   * @throws {RelayError} `session_too_large`
   */
  start(
    ctx: Context,
    login: { readonly registration: string; readonly frontEnd: string },
    token: TokenResponse,
  ): Promise<void>;
  /** Whether the request has the cookie of a session, valid or not. */
  isClaimed(ctx: Context): boolean;
  /**
   * The session of a front end.
   *
   * @returns undefined if there is none, if it is over, or if its cookie is altered, incomplete, or another
   *   front end's
   */
  read(ctx: Context, frontEnd: string): Promise<SessionContent | undefined>;
  /**
   * Sets the cookie of a session anew.
   *
   * @param token what its refresh gave; undefined: there was nothing to refresh
   * @returns the renewed session, or undefined if it has ended in the meantime
   * @throws {RelayError} `session_too_large`
   */
  renew(
    ctx: Context,
    session: SessionContent,
    token: TokenResponse | undefined,
  ): Promise<SessionContent | undefined>;
  /** Clears the cookies of a front end. */
  clear(ctx: Context, frontEnd: string): void;
  /** Ends a session in this process, also for copies of its cookies and for refreshes in flight. */
  end(session: SessionContent): void;
}

/** What sessions are created with. */
export interface SessionSettings extends SessionLifetimes {
  /** Whether the relay's public address is https. */
  readonly secure: boolean;
  /** The names of the front ends, each with the audiences of the registrations that it may use. */
  readonly frontEnds: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * @param keys the keys for sessions
 * @param logouts what this process remembers of sessions
 * @param now milliseconds since 1970
 * @see RFC 10017 §6.1
 */
export function createSessions(
  settings: SessionSettings,
  keys: KeyRing,
  logouts: Logouts,
  now: () => number,
): Sessions {
  const seal = createSessionSeal(keys);
  const cookies = createSessionCookies(settings.secure);
  const seconds = () => Math.floor(now() / 1000);

  async function write(ctx: Context, session: SessionContent): Promise<boolean> {
    const text = await seal.seal(session);
    // Without an await from here to the cookie: a logout must not come in between.
    if (logouts.has(session.id)) return false;
    const maxAge = Math.min(session.endsAt, session.idleEndsAt) - seconds();
    cookies.set(ctx, session.frontEnd, text, maxAge);
    return true;
  }

  function isValid(session: SessionContent, frontEnd: string): boolean {
    return (
      session.frontEnd === frontEnd &&
      settings.frontEnds.get(frontEnd)?.has(session.registration) === true &&
      !isOver(session, settings, seconds()) &&
      !logouts.has(session.id)
    );
  }

  return {
    async start(ctx, login, token) {
      await write(ctx, newSession(login, token, settings, seconds()));
    },
    isClaimed: (ctx) => cookies.hasAny(ctx, settings.frontEnds),
    async read(ctx, frontEnd) {
      const text = cookies.get(ctx, frontEnd);
      const session = text === undefined ? undefined : await seal.open(text);
      return session !== undefined && isValid(session, frontEnd) ? session : undefined;
    },
    async renew(ctx, session, token) {
      const renewed = renewedSession(session, token, settings, seconds());
      const isWritten = isValid(renewed, session.frontEnd) && (await write(ctx, renewed));
      return isWritten ? renewed : undefined;
    },
    clear: cookies.clear,
    end({ id, endsAt }) {
      // Refreshes at other relays may go on until then.
      logouts.add(id, endsAt);
    },
  };
}
