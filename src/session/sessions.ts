import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { hashSubject } from '../access/id-token.ts';
import { type Clock, nowInSeconds } from '../clock.ts';
import type { Context } from '../http/context.ts';
import type { Marks } from '../memory/marks.ts';
import { mergeFields } from '../oauth/extra-fields.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { couldBeIssued, createSeal } from '../sealing/seal.ts';
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
  endsAt: v.number(),
  /** The end of the session unless it is refreshed. */
  idleEndsAt: v.number(),
});

/** The content of the cookie of a session. Times are in seconds since 1970. */
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
  /** Whether to refuse sessions while the shared memory is away, because they may have ended at another relay. */
  readonly isStrict?: boolean;
  /** The front ends with sessions, by name. */
  readonly frontEnds: ReadonlyMap<string, { readonly audience: string; readonly registrations: ReadonlySet<string> }>;
}

/**
 * Starts, reads, renews and ends the sessions of front ends that must not see tokens. Nothing is stored, because a
 * sealed cookie holds the whole session.
 *
 * @param logouts remembers the ids of ended sessions, so that copies of their cookies open nothing
 * @see RFC 10017 §6.1
 */
export function createSessions(settings: SessionSettings, keys: KeyRing, logouts: Marks, now: Clock) {
  const { lifetime, idle } = settings;
  const seal = createSessionSeal(keys);
  const cookies = createSessionCookies(settings.secure);
  const seconds = () => nowInSeconds(now);
  // The origin is part of the audience, so that pages at an earlier origin cannot use the sessions of the present
  // origin.
  const audienceOf = (frontEnd: string) => settings.frontEnds.get(frontEnd)?.audience ?? '';

  /** Seals a session into its cookie, which lasts until the session ends. @throws {RelayError} `session_too_large` */
  function setCookie(ctx: Context, session: SessionContent): void {
    const text = seal.seal(session, audienceOf(session.frontEnd));
    const maxAge = Math.min(session.endsAt, session.idleEndsAt) - seconds();
    cookies.set(ctx, session.frontEnd, text, maxAge);
  }

  /**
   * Opens the cookie of a session, even after the logout.
   *
   * @returns undefined if there is none, if the session has expired, or if the cookie is altered, incomplete, or of
   *   another front end
   */
  function open(ctx: Context, frontEnd: string): SessionContent | undefined {
    const text = cookies.get(ctx, frontEnd);
    const session = text === undefined ? undefined : seal.open(text, audienceOf(frontEnd));
    return session !== undefined && isValid(session, frontEnd, settings, now) ? session : undefined;
  }

  return {
    open,
    /**
     * Starts the session of a login, and sets its cookie, which replaces an earlier one.
     *
     * @throws {RelayError} `session_too_large`
     */
    start(ctx: Context, login: SessionLogin, granted: TokenResponse): void {
      const loggedInAt = seconds();
      const { expiresIn, refreshToken } = granted;
      // Without a refresh token, the access token cannot be renewed.
      const endsWithToken = refreshToken === undefined && expiresIn !== undefined;
      setCookie(ctx, {
        id: randomBytes(idLength).toString('base64url'),
        ...login,
        ...pickTokens(granted, loggedInAt),
        subjectId: hashSubject(granted.idToken),
        loggedInAt,
        renewedAt: loggedInAt,
        endsAt: loggedInAt + (endsWithToken ? Math.min(lifetime, expiresIn) : lifetime),
        idleEndsAt: loggedInAt + idle,
      });
    },
    /** Whether the request has a cookie of a session, valid or not. */
    hasCookie: (ctx: Context): boolean => cookies.hasAny(ctx, settings.frontEnds),
    /** As `open`, but undefined after a logout. @throws {RelayError} `memory_away` if strict */
    async read(ctx: Context, frontEnd: string): Promise<SessionContent | undefined> {
      const session = open(ctx, frontEnd);
      if (session === undefined) return undefined;
      const hasEnded = await logouts.isMarked(session.id, settings.isStrict);
      return hasEnded ? undefined : session;
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
      const tokens = granted && pickTokens({ ...granted, scope, refreshToken, extraFields }, renewedAt);
      const subjectId = session.subjectId ?? hashSubject(granted?.idToken);
      const renewed = { ...session, ...tokens, subjectId, renewedAt, idleEndsAt: renewedAt + idle };
      if (!isValid(renewed, session.frontEnd, settings, now)) return undefined;
      if (await logouts.isMarked(session.id, settings.isStrict)) return undefined;
      setCookie(ctx, renewed);
      return renewed;
    },
    clear: cookies.clear,
    /**
     * Ends a session, so that neither a copy of its cookie nor a refresh in flight continues it. The browser keeps the
     * cookie until `clear`.
     */
    async end({ id, endsAt }: SessionContent): Promise<void> {
      await logouts.mark(id, endsAt * 1000 - now());
    },
  };
}

/** Whether a session has not ended, and its front end may still use its registration. */
function isValid(session: SessionContent, frontEnd: string, settings: SessionSettings, now: Clock): boolean {
  const { registration, loggedInAt, endsAt, idleEndsAt } = session;
  if (!couldBeIssued(loggedInAt, endsAt, longestDays.session * 86_400, now)) return false;
  const usable = settings.frontEnds.get(frontEnd)?.registrations;
  // The configured lifetime may be shorter now than at the login.
  const end = Math.min(endsAt, idleEndsAt, loggedInAt + settings.lifetime);
  return session.frontEnd === frontEnd && usable?.has(registration) === true && nowInSeconds(now) < end;
}

/** Picks what a session keeps of a token response. @param at the time of the response, in seconds since 1970 */
function pickTokens(
  { accessToken, tokenType, expiresIn, scope, refreshToken, extraFields }: TokenResponse,
  at: number,
) {
  const accessTokenEndsAt = expiresIn === undefined ? undefined : at + expiresIn;
  return { accessToken, tokenType, scope, accessTokenEndsAt, refreshToken, extraFields };
}
