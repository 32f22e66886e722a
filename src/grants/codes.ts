import * as v from 'valibot';
import { type Clock, secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { loginTerms } from '../login/state.ts';
import { createOnce, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/sealed.ts';

/** Seconds until a code expires. */
const codeLifetime = 60;
/** Seconds by which the clocks of replicas may differ. */
const clockSkew = 60;

const content = v.object({
  /** Seconds since 1970. */
  issuedAt: v.number(),
  /** The redirect URI that the front end has named. @see RFC 6749 §4.1.3 */
  redirectUri: v.string(),
  codeChallenge: v.string(),
  /** The provider's code, unspent. */
  providerCode: v.string(),
  /** The relay's own verifier at the provider, if the login uses PKCE there. */
  codeVerifier: v.optional(v.string()),
  ...loginTerms,
  /** The client address of the callback, if it is known, and any page can redeem this code. */
  address: v.optional(v.string()),
});

/** A login that the provider has granted, until the front end redeems it. */
export type CodeContent = Omit<v.InferOutput<typeof content>, 'issuedAt'>;

/** The codes that a registration issues to front ends. Nothing is stored: a code holds its login, sealed. */
export type Codes = ReturnType<typeof createCodes>;

/** @param registrationAudience throws a `RelayError` if no provider is known @see RFC 6749 §4.1.2 */
export function createCodes(keys: KeyRing, registrationAudience: () => string, now: Clock) {
  const seal = createSeal('code', keys, content);
  const seconds = () => secondsOf(now);
  return {
    /** Issues a code that is valid for 60 seconds, to the front end with this audience. */
    issue(issued: CodeContent, frontEndAudience: string): string {
      const held = { ...issued, issuedAt: seconds() };
      return seal.seal(held, registrationAudience(), frontEndAudience);
    },
    /** @returns undefined if the code is altered, expired, or not of this registration and front end */
    open(code: string, frontEndAudience: string): CodeContent | undefined {
      const opened = seal.open(code, registrationAudience(), frontEndAudience);
      if (opened === undefined) return undefined;
      const { issuedAt, ...issued } = opened;
      const age = seconds() - issuedAt;
      return age <= codeLifetime && age >= -clockSkew ? issued : undefined;
    },
  };
}

/**
 * The codes that front ends redeem. The provider's code in one is exchanged once: a second exchange could make the
 * provider revoke the tokens of the first one. Remembers the last 16,384 at most. If an older one is repeated, the
 * provider refuses it.
 *
 * @see RFC 6749 §4.1.2
 */
export const createRedeemedCodes = (home: Home) =>
  createOnce(home, kinds.redeemedCodes, () => {
    throw new RelayError('code_redeemed');
  });
