import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { KeyRing } from '../keys.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createSeal } from '../sealed.ts';

/** How long sessions last, in seconds. */
export interface SessionLifetimes {
  /** From the login. */
  readonly lifetime: number;
  /** From the login or the last refresh. */
  readonly idle: number;
}

const content = v.object({
  /** Tells the session from all others. A refresh keeps it. */
  id: v.string(),
  /** The name of the registration. */
  registration: v.string(),
  /** The audience of the registration. */
  audience: v.string(),
  /** The name of the front end. */
  frontEnd: v.string(),
  accessToken: v.string(),
  tokenType: v.optional(v.string()),
  /** The granted scope, if it is known. */
  scope: v.optional(v.string()),
  /** When the access token ends, if it is known. */
  accessTokenEndsAt: v.optional(v.number()),
  /** Without one, the session ends with its access token. */
  refreshToken: v.optional(v.string()),
  loggedInAt: v.number(),
  /** Of the login or the last refresh. */
  renewedAt: v.optional(v.number()),
  /** When the session ends, however often it is refreshed. */
  endsAt: v.number(),
  /** When the session ends unless it is refreshed. */
  idleEndsAt: v.number(),
});

/** What the cookie of a session holds. Times are in seconds since 1970. */
export type SessionContent = v.InferOutput<typeof content>;

/** Whose session it is. */
export type SessionLogin = Pick<SessionContent, 'registration' | 'audience' | 'frontEnd'>;

const idLength = 16;

/** @param keys the keys for sessions */
export function createSessionSeal(keys: KeyRing) {
  return createSeal('session', keys, content);
}

/**
 * The content of a new session.
 *
 * @param now seconds since 1970
 */
export function newSession(
  login: SessionLogin,
  token: TokenResponse,
  { lifetime, idle }: SessionLifetimes,
  now: number,
): SessionContent {
  const { expiresIn } = token;
  // Nothing could renew it.
  const endsWithToken = token.refreshToken === undefined && expiresIn !== undefined;
  return {
    id: randomBytes(idLength).toString('base64url'),
    ...login,
    ...tokensOf(token, now),
    loggedInAt: now,
    renewedAt: now,
    endsAt: now + (endsWithToken ? Math.min(lifetime, expiresIn) : lifetime),
    idleEndsAt: now + idle,
  };
}

/**
 * The content of a session that was used a moment ago.
 *
 * @param token what its refresh gave; undefined: there was nothing to refresh
 * @param now seconds since 1970
 */
export function renewedSession(
  session: SessionContent,
  token: TokenResponse | undefined,
  { idle }: SessionLifetimes,
  now: number,
): SessionContent {
  const renewed = { ...session, renewedAt: now, idleEndsAt: now + idle };
  if (token === undefined) return renewed;
  const { scope = session.scope, refreshToken = session.refreshToken } = token;
  return { ...renewed, ...tokensOf({ ...token, scope, refreshToken }, now) };
}

/**
 * Whether a session is over.
 *
 * @param lifetime the present limit, which may be shorter than at the login
 * @param now seconds since 1970
 */
export function isOver(
  { loggedInAt, endsAt, idleEndsAt }: SessionContent,
  { lifetime }: SessionLifetimes,
  now: number,
): boolean {
  return now >= Math.min(endsAt, idleEndsAt, loggedInAt + lifetime);
}

function tokensOf(
  { accessToken, tokenType, expiresIn, scope, refreshToken }: TokenResponse,
  now: number,
) {
  const accessTokenEndsAt = expiresIn === undefined ? undefined : now + expiresIn;
  return { accessToken, tokenType, scope, accessTokenEndsAt, refreshToken };
}
