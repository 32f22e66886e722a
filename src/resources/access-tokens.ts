import * as v from 'valibot';
import { identitySchema } from '../access/identity.ts';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { createLasting, hashKey } from '../memory/recent.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal, isPossible } from '../sealing/sealed.ts';
import { longestBrowserLifetime, longestLifetime, type Resource } from './resource.ts';

const content = v.object({
  frontEnd: v.string(),
  /** The `hashClient` of a client that has no entry of its own. */
  client: v.optional(v.string()),
  /** The id of the secret or key that a machine used. Undefined for a token of a person. */
  credential: v.optional(v.string()),
  /** The audience of the front end when it got the token. */
  audience: v.string(),
  /** The id of the login, which its refresh tokens share. */
  login: v.string(),
  ...identitySchema.entries,
  /** The `hashRules` by which the person was allowed. Undefined: the token was issued by version 0.4. */
  rules: v.optional(v.string()),
  /** The provider's access token, if the server behind the resource gets it. */
  providerToken: v.optional(v.string()),
  /** When it was issued, in seconds since 1970. */
  iat: v.number(),
  /** When it ends, in seconds since 1970. */
  exp: v.number(),
});

/** What an access token for a resource holds. */
export type AccessTokenContent = Readonly<v.InferOutput<typeof content>>;

/** How many opened tokens each registration remembers. */
const mostOpened = 4096;

/** Separates tokens of different purposes. */
interface Purpose {
  /** Also the name of the seal. */
  readonly name: 'access token' | 'door cookie';
  /** The longest lifetime, in seconds. */
  readonly lifetime: number;
}

const ofPrograms: Purpose = { name: 'access token', lifetime: longestLifetime };

/**
 * Content of the cookie that opens a resource to a browser. It is never accepted as a bearer token, nor a token as the
 * cookie.
 */
export const ofBrowsers: Purpose = { name: 'door cookie', lifetime: longestBrowserLifetime };

/**
 * The access tokens that the relay issues for resources. A token for one resource does not open at another.
 *
 * What was opened is remembered by the hash of its text: a reverse proxy shows the same token with every request, and
 * decryption takes longer than the rest of a check. It is forgotten with these keys, so that a reload which removes a key
 * ends what the key has sealed. Whether a token has ended is asked each time.
 *
 * @see RFC 6749 §1.4, RFC 8707 §2
 */
export function createAccessTokens(keys: KeyRing, now: Clock, { name, lifetime }: Purpose = ofPrograms) {
  const seal = createSeal(name, keys, content, { longest: limits.resourceTokenLength });
  const opened = createLasting<AccessTokenContent>(mostOpened, now);
  const possible = (found: AccessTokenContent | undefined) =>
    found && isPossible(found.iat, found.exp, lifetime, now) ? found : undefined;

  /**
   * Opens a token, and remembers it. One that holds a provider's token is opened each time, because that must not stay
   * in memory.
   */
  function openOnce(token: string, audience: readonly string[]): AccessTokenContent | undefined {
    // The relay seals no longer text, and hashing a long one would cost time.
    if (token.length > limits.resourceTokenLength) return undefined;
    const key = hashKey(token, ...audience);
    const known = opened.get(key);
    if (known !== undefined) return known;
    const found = seal.open(token, ...audience);
    const left = found && found.exp * 1000 - now();
    if (left && left > 0 && found.providerToken === undefined) opened.set(key, found, left);
    return found;
  }
  return {
    /** @throws {RelayError} `identity_too_long` or `provider_token_too_long` */
    issue(issued: AccessTokenContent, { audience }: Pick<Resource, 'audience'>): string {
      const token = seal.seal(issued, ...audience);
      if (token.length <= limits.resourceTokenLength) return token;
      const { providerToken = '' } = issued;
      const isOfProvider = 2 * providerToken.length > JSON.stringify(issued).length;
      throw new RelayError(isOfProvider ? 'provider_token_too_long' : 'identity_too_long');
    },
    /**
     * @returns undefined if the token is altered, for another resource, or not possible as one of the relay's. It may
     *   have expired
     */
    open: (token: string, { audience }: Pick<Resource, 'audience'>) => possible(openOnce(token, audience)),
    /** The same for a token that may be for any of several resources. */
    reader(token: string) {
      const open = seal.reader(token);
      return ({ audience }: Pick<Resource, 'audience'>) => possible(open(...audience));
    },
  };
}
