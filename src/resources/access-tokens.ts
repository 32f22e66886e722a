import * as v from 'valibot';
import { identitySchema } from '../access/identity.ts';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { createExpiringMap, hashKey } from '../memory/expiring-map.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { couldBeIssued, createSeal } from '../sealing/seal.ts';
import { longestBrowserLifetime, longestLifetime, type Resource } from './resource.ts';

const content = v.object({
  frontEnd: v.string(),
  /** The `hashClient` of an unregistered client. */
  client: v.optional(v.string()),
  /** The id of the secret or key that a machine used. Undefined for a token of a person. */
  credential: v.optional(v.string()),
  /** The audience of the front end when it got the token. */
  audience: v.string(),
  /** The id of the login, which its refresh tokens share. */
  login: v.string(),
  ...identitySchema.entries,
  /** The `hashRules` by which the person was allowed. Undefined if version 0.4 issued the token. */
  rules: v.optional(v.string()),
  /** The provider's access token, if the server behind the resource gets it. */
  providerToken: v.optional(v.string()),
  /** When it was issued, in seconds since 1970. */
  iat: v.number(),
  /** When it ends, in seconds since 1970. */
  exp: v.number(),
});

export type AccessTokenContent = Readonly<v.InferOutput<typeof content>>;

/** How many opened tokens each registration remembers. */
const mostOpened = 4096;

/** The use of a token. A token of one use is never accepted for the other use. */
interface TokenUse {
  /** Also the purpose of the seal. */
  readonly name: 'access token' | 'door cookie';
  /** The longest lifetime, in seconds. */
  readonly lifetime: number;
}

const bearerToken: TokenUse = { name: 'access token', lifetime: longestLifetime };

/** A cookie that opens a resource to a browser. It has the content of an access token. */
export const browserCookie: TokenUse = { name: 'door cookie', lifetime: longestBrowserLifetime };

/**
 * Issues and opens access tokens for resources. A token for one resource does not open at another.
 *
 * Opened tokens are remembered by the hash of their text, because a reverse proxy shows the same token with every
 * request, and decryption takes longer than the rest of a check. Each reload creates this anew, so that a token is
 * forgotten if the reload removed its key. Callers check each time whether the login of a token has ended.
 *
 * @see RFC 6749 §1.4, RFC 8707 §2
 */
export function createAccessTokens(keys: KeyRing, now: Clock, { name, lifetime }: TokenUse = bearerToken) {
  const seal = createSeal(name, keys, content, { longest: limits.resourceTokenLength });
  const remembered = createExpiringMap<AccessTokenContent>(mostOpened, now);
  /** Refuses times that no token of the relay can have, for example a lifetime above the limit. */
  const ifPossible = (opened: AccessTokenContent | undefined) =>
    opened && couldBeIssued(opened.iat, opened.exp, lifetime, now) ? opened : undefined;

  /** Opens a token, and remembers it, unless it holds a provider's token, which must not stay in memory. */
  function openAndRemember(token: string, audience: readonly string[]): AccessTokenContent | undefined {
    // No token of the relay is longer, and hashing a long text would cost time.
    if (token.length > limits.resourceTokenLength) return undefined;
    const key = hashKey(token, ...audience);
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const opened = seal.open(token, ...audience);
    if (opened === undefined) return undefined;
    const left = opened.exp * 1000 - now();
    if (left > 0 && opened.providerToken === undefined) remembered.set(key, opened, left);
    return opened;
  }

  return {
    /** @throws {RelayError} `identity_too_long` or `provider_token_too_long` */
    issue(tokenContent: AccessTokenContent, { audience }: Pick<Resource, 'audience'>): string {
      const token = seal.seal(tokenContent, ...audience);
      if (token.length <= limits.resourceTokenLength) return token;
      // Name the longer part.
      const { providerToken = '' } = tokenContent;
      const isMostlyProviderToken = 2 * providerToken.length > JSON.stringify(tokenContent).length;
      throw new RelayError(isMostlyProviderToken ? 'provider_token_too_long' : 'identity_too_long');
    },
    /** Whether `open` would return without decrypting the token. */
    remembers: (token: string, { audience }: Pick<Resource, 'audience'>): boolean =>
      token.length <= limits.resourceTokenLength && remembered.get(hashKey(token, ...audience)) !== undefined,
    /** Opens a token, even after its end. @returns undefined if it is altered, impossible, or for another resource */
    open: (token: string, { audience }: Pick<Resource, 'audience'>) => ifPossible(openAndRemember(token, audience)),
    /**
     * Decodes a token that may be for any of several resources. The returned function opens it for one of them, as `open`
     * does.
     */
    prepareToOpen(token: string) {
      const open = seal.prepareToOpen(token);
      return ({ audience }: Pick<Resource, 'audience'>) => ifPossible(open(...audience));
    },
  };
}
