import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, secondsOf } from '../clock.ts';
import { limits } from '../limits.ts';
import { loginTerms } from '../login/state.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/sealed.ts';
import { generationSchema } from './generations.ts';
import type { Refreshed } from './refresh-results.ts';

const content = v.object({
  /** Tells the login from all others. A refresh keeps it. */
  login: v.string(),
  /** The thumbprint of the key that the front end must prove. Without it, the token is unbound. */
  thumbprint: v.optional(v.string()),
  ...loginTerms,
  loggedInAt: v.number(),
  /** When the token expires, in seconds since 1970. */
  endsAt: v.number(),
  /** The redirect URI of the login, if nothing else says from where its client sends requests. */
  redirectUri: v.optional(v.string()),
  /** The address of the callback, if it is known and a page of anybody can send this token. */
  address: v.optional(v.string()),
  /** Its place among those of its login. Without it, the relay does not replace the token. */
  generation: v.optional(generationSchema),
  providerToken: v.object({
    refreshToken: v.optional(v.string()),
    /** There if the provider gives no refresh token, or revokes nothing else. */
    accessToken: v.optional(v.string()),
    tokenType: v.optional(v.string()),
    /** Seconds since 1970, if it is known. */
    endsAt: v.optional(v.number()),
  }),
});

/** What a refresh token of the relay holds. */
export type RefreshTokenContent = v.InferOutput<typeof content>;

/** Whose a refresh token is: the audiences of its registration and its front end. */
export type Owner = readonly [registration: string, frontEnd: string];

/** The refresh tokens that a registration issues to front ends. A token holds its login, sealed. @see RFC 6749 §1.5 */
export function createRefreshTokens(keys: KeyRing, now: Clock) {
  const seal = createSeal('refresh token', keys, content);
  /** The same as `open`, for a revocation: expired tokens too, because the provider's may be valid for longer. */
  const openExpired = (refreshToken: string, owner: Owner) => seal.open(refreshToken, ...owner);
  return {
    /**
     * Issues a refresh token to its owner.
     *
     * @returns undefined if the provider's token is so long that a token request could not send it back
     */
    issue(issued: RefreshTokenContent, owner: Owner): string | undefined {
      const token = seal.seal(issued, ...owner);
      return token.length <= limits.sealedLength ? token : undefined;
    },
    /** @returns undefined if the token is altered, expired, or not of this owner */
    open(refreshToken: string, owner: Owner): RefreshTokenContent | undefined {
      const opened = openExpired(refreshToken, owner);
      return opened !== undefined && now() < opened.endsAt * 1000 ? opened : undefined;
    },
    openExpired,
  };
}

/** A name for a login that tells it from all others. */
export const newLogin = () => randomBytes(16).toString('base64url');

/** Whether the logins of a front end get refresh tokens, and for how long. */
export interface RefreshPolicy {
  /** `bound`: only if the front end proves a key. `bearer`: always. */
  readonly mode: 'bound' | 'bearer';
  /** Whether the relay replaces unbound tokens. */
  readonly replaces: boolean;
  /** Seconds from the login until the last refresh token expires. */
  readonly lifetime: number;
}

interface ProviderRefreshPolicy extends RefreshPolicy {
  /** Whether refresh tokens hold the access token too: the provider revokes nothing else. */
  readonly keepsAccessToken: boolean;
}

/**
 * What the first refresh token of a login holds.
 *
 * @param thumbprint that of the key that the front end proves, if it proves one
 * @returns undefined if the policy grants none
 */
export function firstRefreshToken(
  { mode, replaces, lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  token: TokenResponse,
  thumbprint: string | undefined,
  now: Clock,
): RefreshTokenContent | undefined {
  if (mode === 'bound' && thumbprint === undefined) return undefined;
  const { accessToken, tokenType, expiresIn, refreshToken, refreshExpiresIn, scope } = token;
  const loggedInAt = secondsOf(now);
  const until = (seconds: number | undefined) =>
    loggedInAt + Math.min(lifetime, seconds ?? lifetime);
  const isReplaced = replaces && thumbprint === undefined;
  const common = {
    login: newLogin(),
    thumbprint,
    scope,
    loggedInAt,
    generation: isReplaced ? { number: 0, since: loggedInAt } : undefined,
  };
  if (refreshToken !== undefined) {
    const providerToken = { refreshToken, ...(keepsAccessToken && { accessToken }) };
    return { ...common, endsAt: until(refreshExpiresIn), providerToken };
  }
  const endsAt = expiresIn === undefined ? undefined : loggedInAt + expiresIn;
  const providerToken = { accessToken, tokenType, endsAt };
  return { ...common, endsAt: until(expiresIn), providerToken };
}

/** Whether the current policy still allows a refresh token of an earlier policy. */
export function isStillGranted(
  { mode, lifetime }: RefreshPolicy,
  { thumbprint, loggedInAt }: RefreshTokenContent,
  now: Clock,
): boolean {
  return (mode === 'bearer' || thumbprint !== undefined) && now() < (loggedInAt + lifetime) * 1000;
}

/**
 * Milliseconds that the refresh tokens of a login have left at most: those of others may be good for longer than the
 * given one.
 */
export function timeLeft(
  policy: RefreshPolicy | undefined,
  { loggedInAt, endsAt }: RefreshTokenContent,
  now: Clock,
): number {
  return Math.max(endsAt, loggedInAt + (policy?.lifetime ?? 0)) * 1000 - now();
}

/** The content of the refresh token after a refresh. @param login the content of the earlier refresh token */
export function nextRefreshToken(
  { lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  login: RefreshTokenContent,
  { accessToken, refreshToken, refreshExpiresIn }: Refreshed,
  now: Clock,
): RefreshTokenContent {
  const { loggedInAt, providerToken } = login;
  const isSame = providerToken.refreshToken === refreshToken;
  // The end in this response. If there is none, the end that was known of the same token.
  const given = refreshExpiresIn !== undefined ? now() / 1000 + refreshExpiresIn : undefined;
  const providerEnd = given ?? (isSame ? login.endsAt : Number.POSITIVE_INFINITY);
  return {
    ...login,
    endsAt: Math.min(loggedInAt + lifetime, Math.floor(providerEnd)),
    providerToken: { refreshToken, ...(keepsAccessToken && { accessToken }) },
  };
}
