import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { hashSubject } from '../access/id-token.ts';
import { type Clock, nowInSeconds } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { loginTerms } from '../login/state.ts';
import { mergeFields } from '../oauth/extra-fields.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { couldBeIssued, createSeal } from '../sealing/seal.ts';
import { longestDays } from '../times.ts';
import { generationSchema } from './rotation-and-reuse.ts';

const content = v.object({
  /** The id of the login, which stays the same after a refresh. */
  login: v.string(),
  /** The thumbprint of the key that the front end must prove. Undefined if the token is not bound to a key. */
  thumbprint: v.optional(v.string()),
  ...loginTerms,
  /** Seconds since 1970, as all times here. */
  loggedInAt: v.number(),
  endsAt: v.number(),
  /** The redirect URI of the login, if the client is unregistered. Only this tells from which origin it may refresh. */
  redirectUri: v.optional(v.string()),
  /**
   * The client address of the callback, if it is known and the client is unregistered. Any page could make its visitors
   * send this token, and their addresses must not be charged.
   */
  address: v.optional(v.string()),
  /** `hashSubject` of the ID token, if the provider sends one. */
  subjectId: v.optional(v.string()),
  extraFields: v.optional(v.record(v.string(), v.string())),
  /** Undefined if the relay does not rotate the token. */
  generation: v.optional(generationSchema),
  providerToken: v.object({
    refreshToken: v.optional(v.string()),
    /** Set if the provider gives no refresh token, or can revoke only access tokens. */
    accessToken: v.optional(v.string()),
    tokenType: v.optional(v.string()),
    /** When the access token ends, in seconds since 1970, if the provider tells. */
    endsAt: v.optional(v.number()),
  }),
});

export type RefreshTokenContent = v.InferOutput<typeof content>;

export interface OpenedRefreshToken {
  readonly content: RefreshTokenContent;
  readonly owner: Owner;
  readonly policy: ProviderRefreshPolicy;
  /** Milliseconds until the last refresh token of the login expires. */
  readonly left: number;
}

/** The audiences for which a refresh token is sealed. Together they identify its owner. */
export type Owner = readonly [registration: string, frontEnd: string];

/** Seals logins into refresh tokens, so that nothing is stored. @see RFC 6749 §1.5 */
export function createRefreshTokens(keys: KeyRing, now: Clock) {
  const seal = createSeal('refresh token', keys, content);
  /** Opens even an expired token. A revocation does so, because the provider's token may still be valid. */
  function openExpired(refreshToken: string, owner: Owner): RefreshTokenContent | undefined {
    const opened = seal.open(refreshToken, ...owner);
    const longest = longestDays.refreshToken * 86_400;
    return opened && couldBeIssued(opened.loggedInAt, opened.endsAt, longest, now) ? opened : undefined;
  }

  /** @returns undefined if the token is altered, expired, or belongs to another owner */
  function open(refreshToken: string, owner: Owner): RefreshTokenContent | undefined {
    const opened = openExpired(refreshToken, owner);
    return opened !== undefined && now() < opened.endsAt * 1000 ? opened : undefined;
  }

  return {
    /**
     * Issues a refresh token to its owner.
     *
     * @returns undefined if the provider's token is so long that the result would not fit into a token request
     */
    issue(tokenContent: RefreshTokenContent, owner: Owner): string | undefined {
      const token = seal.seal(tokenContent, ...owner);
      return token.length <= limits.sealedLength ? token : undefined;
    },
    open,
    openExpired,
    /**
     * Opens a refresh token, if the present policy of its owner still allows it.
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

export const createLoginId = () => randomBytes(16).toString('base64url');

/** Whether logins of a front end get refresh tokens, and for how long. */
export interface RefreshPolicy {
  /** `bound`: only if the front end proves a key. `bearer`: always. */
  readonly mode: 'bound' | 'bearer';
  /** Whether the relay rotates refresh tokens that are not bound to a key. */
  readonly rotates: boolean;
  /** Seconds from the login until the last refresh token expires. */
  readonly lifetime: number;
}

interface ProviderRefreshPolicy extends RefreshPolicy {
  /** Whether refresh tokens also contain the access token, because the provider can revoke only that. */
  readonly keepsAccessToken: boolean;
}

/**
 * The content of the first refresh token of a login, which `issue` seals. The login gets its id here.
 *
 * @param thumbprint of the key that the front end proved, if any
 * @returns undefined if the policy grants none
 */
export function firstRefreshTokenContent(
  { mode, rotates, lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  granted: TokenResponse,
  thumbprint: string | undefined,
  now: Clock,
): RefreshTokenContent | undefined {
  if (mode === 'bound' && thumbprint === undefined) return undefined;
  const { accessToken, tokenType, expiresIn, refreshToken, refreshExpiresIn, scope, extraFields } = granted;
  const loggedInAt = nowInSeconds(now);
  const endAfter = (seconds: number | undefined) => loggedInAt + Math.min(lifetime, seconds ?? lifetime);
  // A stolen bound token is useless without the key, so it needs no rotation.
  const isRotated = rotates && thumbprint === undefined;
  const common = {
    login: createLoginId(),
    thumbprint,
    scope,
    subjectId: hashSubject(granted.idToken),
    extraFields,
    loggedInAt,
    generation: isRotated ? { number: 0, since: loggedInAt } : undefined,
  };
  if (refreshToken !== undefined) {
    const providerToken = { refreshToken, ...(keepsAccessToken && { accessToken }) };
    return { ...common, endsAt: endAfter(refreshExpiresIn), providerToken };
  }
  // Without a refresh token of the provider, refreshes return the same access token until it ends.
  const accessTokenEnd = expiresIn === undefined ? undefined : loggedInAt + expiresIn;
  const providerToken = { accessToken, tokenType, endsAt: accessTokenEnd };
  return { ...common, endsAt: endAfter(expiresIn), providerToken };
}

/** Whether the present policy still allows a refresh token, which an earlier policy may have granted. */
export function isStillGranted(
  { mode, lifetime }: RefreshPolicy,
  { thumbprint, loggedInAt }: RefreshTokenContent,
  now: Clock,
): boolean {
  return (mode === 'bearer' || thumbprint !== undefined) && now() < (loggedInAt + lifetime) * 1000;
}

/**
 * Milliseconds until the last refresh token of a login expires. It may be a later token than the given one.
 *
 * @param policy undefined if the front end gets no refresh tokens any more
 */
export function timeLeft(
  policy: RefreshPolicy | undefined,
  { loggedInAt, endsAt }: RefreshTokenContent,
  now: Clock,
): number {
  return Math.max(endsAt, loggedInAt + (policy?.lifetime ?? 0)) * 1000 - now();
}

/** A response to a refresh, with the refresh token that is valid from now on. */
export type Refreshed = TokenResponse & { readonly refreshToken: string };

/** The content of the refresh token after a refresh. It keeps what the earlier token says of the login. */
export function nextRefreshTokenContent(
  { lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  earlier: RefreshTokenContent,
  { accessToken, refreshToken, refreshExpiresIn, idToken, extraFields }: Refreshed,
  now: Clock,
): RefreshTokenContent {
  const { loggedInAt, providerToken } = earlier;
  const isKept = providerToken.refreshToken === refreshToken;
  const namedEnd = refreshExpiresIn !== undefined ? now() / 1000 + refreshExpiresIn : undefined;
  // If the provider names no end, a kept refresh token ends as before, and a new one has no end of its own.
  const providerEnd = namedEnd ?? (isKept ? earlier.endsAt : Number.POSITIVE_INFINITY);
  return {
    ...earlier,
    // The login may be older than the setting that makes the relay read ID tokens.
    subjectId: earlier.subjectId ?? hashSubject(idToken),
    // Some providers send their extra fields with the code only.
    extraFields: mergeFields(earlier.extraFields, extraFields),
    endsAt: Math.min(loggedInAt + lifetime, Math.floor(providerEnd)),
    providerToken: { refreshToken, ...(keepsAccessToken && { accessToken }) },
  };
}
