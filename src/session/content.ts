import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { createSeal, type Seal } from '../grants/sealed.ts';
import type { KeyRing } from '../keys.ts';
import type { TokenResponse } from '../oauth/token-response.ts';

/** What the cookie of a session holds. Times are in seconds since 1970. */
export interface SessionContent {
  /** Tells the session from all others. A refresh keeps it. */
  readonly id: string;
  /** The audience of the registration. */
  readonly registration: string;
  readonly frontEnd: string;
  readonly accessToken: string;
  readonly tokenType?: string | undefined;
  /** The granted scope; undefined if it is not known. */
  readonly scope?: string | undefined;
  /** Undefined if it is not known. */
  readonly accessTokenEndsAt?: number | undefined;
  /** Undefined if the provider gave none: the session ends with its access token. */
  readonly refreshToken?: string | undefined;
  readonly loggedInAt: number;
  /** When the session ends, however often it is refreshed. */
  readonly endsAt: number;
  /** When the session ends unless it is refreshed. */
  readonly idleEndsAt: number;
}

/** How long sessions last, in seconds. */
export interface SessionLifetimes {
  /** From the login. */
  readonly lifetime: number;
  /** From the login or the last refresh. */
  readonly idle: number;
}

const content = v.object({
  id: v.string(),
  registration: v.string(),
  frontEnd: v.string(),
  accessToken: v.string(),
  tokenType: v.optional(v.string()),
  scope: v.optional(v.string()),
  accessTokenEndsAt: v.optional(v.number()),
  refreshToken: v.optional(v.string()),
  loggedInAt: v.number(),
  endsAt: v.number(),
  idleEndsAt: v.number(),
});

const idLength = 16;

/** @param keys the keys for sessions */
export function createSessionSeal(keys: KeyRing): Seal<SessionContent> {
  return createSeal<SessionContent>(keys, content);
}

/**
 * The content of a new session.
 *
 * @param login.registration the audience of the registration
 * @param now seconds since 1970
 */
export function newSession(
  login: { readonly registration: string; readonly frontEnd: string },
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
  const idleEndsAt = now + idle;
  if (token === undefined) return { ...session, idleEndsAt };
  const { scope = session.scope, refreshToken = session.refreshToken } = token;
  return { ...session, ...tokensOf({ ...token, scope, refreshToken }, now), idleEndsAt };
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
