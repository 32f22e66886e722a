import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { loginTerms } from '../login/state.ts';
import { mergeFields } from '../oauth/extra-fields.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { isPossible, longestDays } from '../sealing/lifetimes.ts';
import { createSeal } from '../sealing/sealed.ts';
import { generationSchema } from './generations.ts';

const content = v.object({
  /** The id of the login. A refresh keeps it. */
  login: v.string(),
  /** The thumbprint of the key that the front end must prove. Undefined: the token is unbound. */
  thumbprint: v.optional(v.string()),
  ...loginTerms,
  loggedInAt: v.number(),
  /** When this refresh token expires, in seconds since 1970. */
  endsAt: v.number(),
  /** The redirect URI of the login, if only that says from which origin its client sends requests. */
  redirectUri: v.optional(v.string()),
  /** The client address of the callback, if it is known, and any page can use this token. */
  address: v.optional(v.string()),
  /** What the front end gets besides its tokens. */
  extraFields: v.optional(v.record(v.string(), v.string())),
  /** Undefined: the relay does not rotate the token. */
  generation: v.optional(generationSchema),
  providerToken: v.object({
    refreshToken: v.optional(v.string()),
    /** Set if the provider gives no refresh token, or if it revokes only access tokens. */
    accessToken: v.optional(v.string()),
    tokenType: v.optional(v.string()),
    /** When the access token ends, in seconds since 1970, if that is known. */
    endsAt: v.optional(v.number()),
  }),
});

/** What a refresh token of the relay holds. */
export type RefreshTokenContent = v.InferOutput<typeof content>;

/** A refresh token that a front end may use, with what the refresh needs of it. */
export interface OpenedRefreshToken {
  readonly content: RefreshTokenContent;
  readonly owner: Owner;
  readonly policy: ProviderRefreshPolicy;
  /** Milliseconds until the last refresh token of the login expires. */
  readonly left: number;
}

/** Whose a refresh token is: the audiences of its registration and its front end. */
export type Owner = readonly [registration: string, frontEnd: string];

/** The refresh tokens that a registration issues to front ends. A token holds its login, sealed. @see RFC 6749 §1.5 */
export function createRefreshTokens(keys: KeyRing, now: Clock) {
  const seal = createSeal('refresh token', keys, content);
  /** As `open`, but expired tokens too: a revocation may find that the provider's token lives longer. */
  function openExpired(refreshToken: string, owner: Owner): RefreshTokenContent | undefined {
    const opened = seal.open(refreshToken, ...owner);
    const longest = longestDays.refreshToken * 86_400;
    return opened && isPossible(opened.loggedInAt, opened.endsAt, longest, now) ? opened : undefined;
  }

  /** @returns undefined if the token is altered, expired, or not of this owner */
  function open(refreshToken: string, owner: Owner): RefreshTokenContent | undefined {
    const opened = openExpired(refreshToken, owner);
    return opened !== undefined && now() < opened.endsAt * 1000 ? opened : undefined;
  }

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
    open,
    openExpired,
    /**
     * Opens a refresh token that the present policy of its owner still allows.
     *
     * @throws {RelayError} `grant_invalid`
     */
    requireGranted(refreshToken: string, owner: Owner, policy: ProviderRefreshPolicy): OpenedRefreshToken {
      const content = open(refreshToken, owner);
      if (content === undefined || !isStillGranted(policy, content, now)) throw new RelayError('grant_invalid');
      return { content, owner, policy, left: timeLeft(policy, content, now) };
    },
  };
}

/** The id of a new login. */
export const newLoginId = () => randomBytes(16).toString('base64url');

/** Whether the logins of a front end get refresh tokens, and for how long. */
export interface RefreshPolicy {
  /** `bound`: only if the front end proves a key. `bearer`: always. */
  readonly mode: 'bound' | 'bearer';
  /** Whether the relay rotates unbound refresh tokens. */
  readonly rotates: boolean;
  /** Seconds from the login until the last refresh token expires. */
  readonly lifetime: number;
}

/** The same at one provider. */
interface ProviderRefreshPolicy extends RefreshPolicy {
  /** Whether refresh tokens hold the access token too, because the provider revokes only that. */
  readonly keepsAccessToken: boolean;
}

/**
 * What the first refresh token of a login holds.
 *
 * @param thumbprint that of the key that the front end proves, if it proves one
 * @returns undefined if the policy grants none
 */
export function firstRefreshToken(
  { mode, rotates, lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  granted: TokenResponse,
  thumbprint: string | undefined,
  now: Clock,
): RefreshTokenContent | undefined {
  if (mode === 'bound' && thumbprint === undefined) return undefined;
  const { accessToken, tokenType, expiresIn, refreshToken, refreshExpiresIn, scope, extraFields } = granted;
  const loggedInAt = secondsOf(now);
  const until = (seconds: number | undefined) => loggedInAt + Math.min(lifetime, seconds ?? lifetime);
  // A stolen bound token is of no use, so it needs no rotation.
  const isRotated = rotates && thumbprint === undefined;
  const common = {
    login: newLoginId(),
    thumbprint,
    scope,
    extraFields,
    loggedInAt,
    generation: isRotated ? { number: 0, since: loggedInAt } : undefined,
  };
  if (refreshToken !== undefined) {
    const providerToken = { refreshToken, ...(keepsAccessToken && { accessToken }) };
    return { ...common, endsAt: until(refreshExpiresIn), providerToken };
  }
  // Without a refresh token of the provider, a refresh gives the same access token again until that ends.
  const accessTokenEnd = expiresIn === undefined ? undefined : loggedInAt + expiresIn;
  const providerToken = { accessToken, tokenType, endsAt: accessTokenEnd };
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

/** Milliseconds until the last refresh token of a login expires: a later one may be good for longer than the given one. */
export function timeLeft(
  policy: RefreshPolicy | undefined,
  { loggedInAt, endsAt }: RefreshTokenContent,
  now: Clock,
): number {
  return Math.max(endsAt, loggedInAt + (policy?.lifetime ?? 0)) * 1000 - now();
}

/** The provider's answer to a refresh, with the refresh token that is valid from now on. */
export type Refreshed = TokenResponse & { readonly refreshToken: string };

/** What the next refresh token of a login holds after a refresh. */
export function nextRefreshToken(
  { lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  earlier: RefreshTokenContent,
  { accessToken, refreshToken, refreshExpiresIn, extraFields }: Refreshed,
  now: Clock,
): RefreshTokenContent {
  const { loggedInAt, providerToken } = earlier;
  const isSame = providerToken.refreshToken === refreshToken;
  // If this response names no end, an earlier one may have named that of the same token.
  const given = refreshExpiresIn !== undefined ? now() / 1000 + refreshExpiresIn : undefined;
  const providerEnd = given ?? (isSame ? earlier.endsAt : Number.POSITIVE_INFINITY);
  return {
    ...earlier,
    // A provider may give its fields with the code alone.
    extraFields: mergeFields(earlier.extraFields, extraFields),
    endsAt: Math.min(loggedInAt + lifetime, Math.floor(providerEnd)),
    providerToken: { refreshToken, ...(keepsAccessToken && { accessToken }) },
  };
}
