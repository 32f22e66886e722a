import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, secondsOf } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { KeyRing } from '../keys.ts';
import { limits } from '../limits.ts';
import { createMarks, type Home } from '../memory/home.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createLasting, keyOf } from '../recent.ts';
import { createSeal } from '../sealed.ts';
import type { Refreshed } from './refresh-results.ts';

const generation = v.object({ login: v.string(), number: v.number() });

const content = v.object({
  /** The thumbprint of the key that the front end must prove. Without it, the token is unbound. */
  thumbprint: v.optional(v.string()),
  scope: v.optional(v.string()),
  loggedInAt: v.number(),
  /** When the token expires, in seconds since 1970. */
  endsAt: v.number(),
  /** The redirect URI of the login, if nothing else says from where its client sends requests. */
  redirectUri: v.optional(v.string()),
  /** Where the token is to be used. @see RFC 8707 §2 */
  resource: v.optional(v.string()),
  /** Its place among those of its login. Without it, the relay does not replace the token. */
  generation: v.optional(generation),
  providerToken: v.object({
    refreshToken: v.optional(v.string()),
    /** There if the provider gives no refresh token, or revokes nothing else. */
    accessToken: v.optional(v.string()),
    tokenType: v.optional(v.string()),
    /** Seconds since 1970, if it is known. */
    endsAt: v.optional(v.number()),
  }),
});

/** The place of a refresh token among those of its login. */
type Generation = Readonly<v.InferOutput<typeof generation>>;

/** What a refresh token of the relay holds. */
export type RefreshTokenContent = v.InferOutput<typeof content>;

/** The audiences of a refresh token's registration and front end. */
interface Audiences {
  readonly registration: string;
  readonly frontEnd: string;
}

/**
 * The refresh tokens that a registration issues to front ends. A token holds its login, sealed.
 *
 * @see RFC 6749 §1.5
 */
export function createRefreshTokens(keys: KeyRing, now: Clock) {
  const seal = createSeal('refresh token', keys, content);
  /** The same as `open`, for a revocation: expired tokens too, because the provider's may be valid for longer. */
  const openExpired = (refreshToken: string, owner: Audiences) =>
    seal.open(refreshToken, owner.registration, owner.frontEnd);
  return {
    /**
     * Issues a refresh token to its owner.
     *
     * @returns undefined if the provider's token is so long that a token request could not send it back
     */
    issue(issued: RefreshTokenContent, owner: Audiences): string | undefined {
      const token = seal.seal(issued, owner.registration, owner.frontEnd);
      return token.length <= limits.sealedLength ? token : undefined;
    },
    /** @returns undefined if the token is altered, expired, or not of this owner */
    open(refreshToken: string, owner: Audiences): RefreshTokenContent | undefined {
      const opened = openExpired(refreshToken, owner);
      return opened !== undefined && now() < opened.endsAt * 1000 ? opened : undefined;
    },
    openExpired,
  };
}

/** Whether the logins of a front end get refresh tokens, and for how long. */
export interface RefreshPolicy {
  /** `bound`: only if the front end proves a key. `bearer`: always. */
  readonly mode: 'bound' | 'bearer';
  /** Whether the relay replaces unbound tokens. */
  readonly replaces: boolean;
  /** Seconds from the login until the last refresh token expires. */
  readonly lifetime: number;
}

/** The policy at one provider. */
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
  const generation = replaces && thumbprint === undefined ? firstGeneration() : undefined;
  const login = { thumbprint, scope, loggedInAt, generation };
  if (refreshToken !== undefined) {
    const providerToken = { refreshToken, ...(keepsAccessToken && { accessToken }) };
    return { ...login, endsAt: until(refreshExpiresIn), providerToken };
  }
  const endsAt = expiresIn === undefined ? undefined : loggedInAt + expiresIn;
  const providerToken = { accessToken, tokenType, endsAt };
  return { ...login, endsAt: until(expiresIn), providerToken };
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
 * The content of the refresh token after a refresh.
 *
 * @param login the content of the earlier refresh token
 */
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

/** Milliseconds for which a replaced refresh token is still good: its client may not have got the next one. */
const grace = 60_000;
const mostLogins = 16_384;
/** Generations that are looked for after a replaced one. */
const mostSteps = 60;

/** The place of the first refresh token of a login. */
export function firstGeneration(): Generation {
  return { login: randomBytes(16).toString('base64url'), number: 0 };
}

/**
 * Replaces refresh tokens that are bound to no key: a copy that is older than the last one is refused, even if the provider
 * would take it. Remembers 16,384 logins at most; the refresh tokens of one that is forgotten are good again.
 *
 * @see RFC 9700 §4.14.2
 */
export function createGenerations(home: Home) {
  /** The numbers of the last ones, by login: a login that is refreshed often displaces no other. */
  const lasts = createLasting<number>(mostLogins, home.now);
  const replaced = createMarks(home, 'g', mostLogins);
  const recent = createMarks(home, 'h', mostLogins);
  const key = ({ login, number }: Generation) => keyOf(login, `${number}`);
  const isReplaced = async (generation: Generation): Promise<boolean> =>
    generation.number < (lasts.get(generation.login) ?? 0) ||
    (await replaced.isMarked(key(generation)));
  return {
    /**
     * The last generation that follows from one, if that is the last one or was replaced less than a minute ago.
     *
     * @throws {RelayError} `grant_invalid`
     */
    async last(given: Generation): Promise<Generation> {
      if (!(await isReplaced(given))) return given;
      if (!(await recent.isMarked(key(given)))) throw new RelayError('grant_invalid');
      let last = given;
      for (let step = 0; step < mostSteps && (await isReplaced(last)); step += 1) {
        last = { ...last, number: last.number + 1 };
      }
      return last;
    },
    /**
     * Replaces a generation by the next one.
     *
     * @param lifetime milliseconds that the refresh tokens of its login have left at most
     */
    async replace(generation: Generation, lifetime: number): Promise<Generation> {
      const { login, number } = generation;
      await recent.mark(key(generation), grace);
      lasts.set(login, Math.max(number + 1, lasts.get(login) ?? 0), lifetime);
      await replaced.mark(key(generation), lifetime);
      return { login, number: number + 1 };
    },
  };
}
