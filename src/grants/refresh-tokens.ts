import * as v from 'valibot';
import type { KeyRing } from '../keys.ts';
import { limits } from '../limits.ts';
import { createSeal } from './sealed.ts';

/** What a refresh token of the relay renews: the provider's refresh token, or else its access token. */
export type ProviderToken = HeldRefreshToken | HeldAccessToken;

/** A refresh token of the provider. */
interface HeldRefreshToken {
  readonly refreshToken: string;
  /** Kept if the provider revokes only access tokens. */
  readonly accessToken?: string | undefined;
}

/** An access token of a provider that gives no refresh token. */
export interface HeldAccessToken {
  readonly accessToken: string;
  readonly tokenType?: string | undefined;
  /** Seconds since 1970; undefined if it is not known. */
  readonly endsAt?: number | undefined;
}

/** What a refresh token of the relay holds. */
export interface RefreshTokenContent {
  /** The audience of the registration. */
  readonly registration: string;
  /** The audience of the front end. */
  readonly frontEnd: string;
  /** The thumbprint of the key that the front end must prove; undefined if the token is unbound. */
  readonly thumbprint?: string | undefined;
  /** The granted scope; undefined if it is not known. */
  readonly scope?: string | undefined;
  /** Seconds since 1970. */
  readonly loggedInAt: number;
  /** When the token expires, in seconds since 1970. */
  readonly endsAt: number;
  readonly providerToken: ProviderToken;
}

const content = v.object({
  registration: v.string(),
  frontEnd: v.string(),
  thumbprint: v.optional(v.string()),
  scope: v.optional(v.string()),
  loggedInAt: v.number(),
  endsAt: v.number(),
  providerToken: v.union([
    v.object({ refreshToken: v.string(), accessToken: v.optional(v.string()) }),
    v.object({
      accessToken: v.string(),
      tokenType: v.optional(v.string()),
      endsAt: v.optional(v.number()),
    }),
  ]),
});

/** The refresh tokens that the relay issues to front ends. A token holds its login, sealed. */
export interface RefreshTokens {
  /** @returns undefined if the provider's token is so long that a token request could not send it back */
  issue(content: RefreshTokenContent): Promise<string | undefined>;
  /** @returns undefined if the token is altered, expired, or not of this relay */
  open(refreshToken: string): Promise<RefreshTokenContent | undefined>;
  /** The same for a revocation: expired tokens too, because the provider's may be valid for longer. */
  openExpired(refreshToken: string): Promise<RefreshTokenContent | undefined>;
}

/**
 * @param keys the keys for refresh tokens
 * @param now milliseconds since 1970
 * @see RFC 6749 §1.5
 */
export function createRefreshTokens(keys: KeyRing, now: () => number): RefreshTokens {
  const seal = createSeal<RefreshTokenContent>(keys, content);
  return {
    async issue(issued) {
      const token = await seal.seal(issued);
      return token.length <= limits.sealedLength ? token : undefined;
    },
    async open(refreshToken) {
      const opened = await seal.open(refreshToken);
      return opened !== undefined && now() < opened.endsAt * 1000 ? opened : undefined;
    },
    openExpired: seal.open,
  };
}
