import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { hashSubject } from '../access/id-token.ts';
import { type Clock, secondsOf } from '../clock.ts';
import type { Context } from '../http/context.ts';
import type { Marks } from '../memory/home.ts';
import { mergeFields } from '../oauth/extra-fields.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal, isPossible } from '../sealing/sealed.ts';
import { longestDays } from '../times.ts';
import { createSessionCookies } from './cookies.ts';

const content = v.object({
  /** The id of the session, which stays the same after a refresh. */
  id: v.string(),
  registration: v.string(),
  audience: v.string(),
  frontEnd: v.string(),
  accessToken: v.string(),
  tokenType: v.optional(v.string()),
  scope: v.optional(v.string()),
  accessTokenEndsAt: v.optional(v.number()),
  /** `hashSubject` of the ID token, if the provider sends one. */
  subjectId: v.optional(v.string()),
  /** Further fields of the provider's answer, which the page gets too. */
  extraFields: v.optional(v.record(v.string(), v.string())),
  /** Undefined if the session ends with its access token. */
  refreshToken: v.optional(v.string()),
  loggedInAt: v.number(),
  /** The time of the login or of the last refresh. */
  renewedAt: v.optional(v.number()),
  /** The latest end, however often the session is refreshed. */
  endsAt: v.number(),
  /** The end unless the session is refreshed. */
  idleEndsAt: v.number(),
});

/** The content of a session's cookie. Times are in seconds since 1970. */
export type SessionContent = v.InferOutput<typeof content>;

export type SessionLogin = Pick<SessionContent, 'registration' | 'audience' | 'frontEnd'>;

const idLength = 16;

export const createSessionSeal = (keys: KeyRing) => createSeal('session', keys, content);

export type Sessions = ReturnType<typeof createSessions>;

interface SessionSettings {
  /** Seconds from the login. */
  readonly lifetime: number;
  /** Seconds from the login or the last refresh. */
  readonly idle: number;
  readonly secure: boolean;
  /** Whether to refuse sessions while the shared memory cannot say whether they ended at another relay. */
  readonly isStrict?: boolean;
  readonly frontEnds: ReadonlyMap<string, { readonly audience: string; readonly registrations: ReadonlySet<string> }>;
}

/**
 * Sessions of front ends that must not see tokens. Nothing is stored: a cookie holds its session, sealed.
 *
 * @param logouts the ids of ended sessions, so that copies of their cookies open nothing @see RFC 10017 §6.1
 */
export function createSessions(settings: SessionSettings, keys: KeyRing, logouts: Marks, now: Clock) {
  const { lifetime, idle } = settings;
  const seal = createSessionSeal(keys);
  const cookies = createSessionCookies(settings.secure);
  const seconds = () => secondsOf(now);
  // The origin is part of the audience, so that pages at an earlier origin cannot use the sessions of the present one.
  const audienceOf = (frontEnd: string) => settings.frontEnds.get(frontEnd)?.audience ?? '';

  function write(ctx: Context, session: SessionContent): void {
    const text = seal.seal(session, audienceOf(session.frontEnd));
    const maxAge = Math.min(session.endsAt, session.idleEndsAt) - seconds();
    cookies.set(ctx, session.frontEnd, text, maxAge);
  }

  /**
   * Opens the session of a front end, even after its logout.
   *
   * @returns undefined if there is none, if it has expired, or if its cookie is altered, incomplete, or of another
   *   front end
   */
  function open(ctx: Context, frontEnd: string): SessionContent | undefined {
    const text = cookies.get(ctx, frontEnd);
    const session = text === undefined ? undefined : seal.open(text, audienceOf(frontEnd));
    return session !== undefined && isValid(session, frontEnd, settings, now) ? session : undefined;
  }

  return {
    open,
    /** Starts the session of a login. It replaces an earlier one. @throws {RelayError} `session_too_large` */
    start(ctx: Context, login: SessionLogin, granted: TokenResponse): void {
      const loggedInAt = seconds();
      const { expiresIn, refreshToken } = granted;
      // Without a refresh token, nothing can renew the access token.
      const endsWithToken = refreshToken === undefined && expiresIn !== undefined;
      write(ctx, {
        id: randomBytes(idLength).toString('base64url'),
        ...login,
        ...tokensOf(granted, loggedInAt),
        subjectId: hashSubject(granted.idToken),
        loggedInAt,
        renewedAt: loggedInAt,
        endsAt: loggedInAt + (endsWithToken ? Math.min(lifetime, expiresIn) : lifetime),
        idleEndsAt: loggedInAt + idle,
      });
    },
    /** Whether the request has a cookie of a session, valid or not. */
    isClaimed: (ctx: Context): boolean => cookies.hasAny(ctx, settings.frontEnds),
    /** As `open`, but undefined after a logout. @throws {RelayError} `memory_away` if strict */
    async read(ctx: Context, frontEnd: string): Promise<SessionContent | undefined> {
      const session = open(ctx, frontEnd);
      const isOver = session && (await logouts.isMarked(session.id, settings.isStrict));
      return isOver ? undefined : session;
    },
    /**
     * Renews a session, and sets its cookie.
     *
     * @param granted undefined to renew only the idle time
     * @returns undefined if the session has ended meanwhile
     * @throws {RelayError} `session_too_large`
     */
    async renew(
      ctx: Context,
      session: SessionContent,
      granted: TokenResponse | undefined,
    ): Promise<SessionContent | undefined> {
      const renewedAt = seconds();
      const { scope = session.scope, refreshToken = session.refreshToken } = granted ?? {};
      const extraFields = mergeFields(session.extraFields, granted?.extraFields);
      const tokens = granted && tokensOf({ ...granted, scope, refreshToken, extraFields }, renewedAt);
      const subjectId = session.subjectId ?? hashSubject(granted?.idToken);
      const renewed = { ...session, ...tokens, subjectId, renewedAt, idleEndsAt: renewedAt + idle };
      if (!isValid(renewed, session.frontEnd, settings, now)) return undefined;
      if (await logouts.isMarked(session.id, settings.isStrict)) return undefined;
      write(ctx, renewed);
      return renewed;
    },
    clear: cookies.clear,
    /** Ends a session, including copies of its cookie and refreshes in flight. */
    async end({ id, endsAt }: SessionContent): Promise<void> {
      await logouts.mark(id, endsAt * 1000 - now());
    },
  };
}

/** Whether a session has not ended, and its front end may still use its registration. */
function isValid(session: SessionContent, frontEnd: string, settings: SessionSettings, now: Clock): boolean {
  const { registration, loggedInAt, endsAt, idleEndsAt } = session;
  if (!isPossible(loggedInAt, endsAt, longestDays.session * 86_400, now)) return false;
  const mayUse = settings.frontEnds.get(frontEnd)?.registrations;
  // The configured lifetime may be shorter now than at the login.
  const end = Math.min(endsAt, idleEndsAt, loggedInAt + settings.lifetime);
  return session.frontEnd === frontEnd && mayUse?.has(registration) === true && secondsOf(now) < end;
}

/** The part of a token response that a session keeps. @param at seconds since 1970 */
function tokensOf({ accessToken, tokenType, expiresIn, scope, refreshToken, extraFields }: TokenResponse, at: number) {
  const accessTokenEndsAt = expiresIn === undefined ? undefined : at + expiresIn;
  return { accessToken, tokenType, scope, accessTokenEndsAt, refreshToken, extraFields };
}
