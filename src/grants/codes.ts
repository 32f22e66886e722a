import * as v from 'valibot';
import { type Clock, clockSkew, nowInSeconds } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { loginTerms } from '../login/state.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/seal.ts';
import { times } from '../times.ts';

const content = v.object({
  /** Seconds since 1970. */
  issuedAt: v.number(),
  /** The redirect URI of the start. @see RFC 6749 §4.1.3 */
  redirectUri: v.string(),
  codeChallenge: v.string(),
  providerCode: v.string(),
  codeVerifier: v.optional(v.string()),
  /** The nonce that the ID token must have, if the ID token says who the person is. */
  nonce: v.optional(v.string()),
  ...loginTerms,
  /** Parameters of the callback that the front end gets besides its tokens. */
  extraFields: v.optional(v.record(v.string(), v.string())),
  /**
   * The client address of the callback, if it is known and the client is unregistered. Any page could make its visitors
   * redeem this code, and their addresses must not be charged.
   */
  address: v.optional(v.string()),
});

/** A login that the provider granted, and the front end has not redeemed yet. */
export type CodeContent = Omit<v.InferOutput<typeof content>, 'issuedAt'>;

export type Codes = ReturnType<typeof createCodes>;

/**
 * Seals logins into codes, so that nothing is stored.
 *
 * @param registrationAudience returns the text that binds codes to their registration. It throws a `RelayError` if no
 *   provider is known
 * @see RFC 6749 §4.1.2
 */
export function createCodes(keys: KeyRing, registrationAudience: () => string, now: Clock) {
  const seal = createSeal('code', keys, content);
  const seconds = () => nowInSeconds(now);
  return {
    /**
     * Issues a code that only one front end can redeem, and only at this registration.
     *
     * @param frontEndAudience from `audienceOfFrontEnd`
     */
    issue(login: CodeContent, frontEndAudience: string): string {
      return seal.seal({ ...login, issuedAt: seconds() }, registrationAudience(), frontEndAudience);
    },
    /**
     * Opens a code, even if it has expired.
     *
     * @returns undefined if the code is altered, or belongs to another registration or front end
     */
    openExpired(code: string, frontEndAudience: string) {
      const opened = seal.open(code, registrationAudience(), frontEndAudience);
      if (opened === undefined) return undefined;
      const { issuedAt, ...login } = opened;
      return { login, issuedAt };
    },
    /**
     * Opens a code.
     *
     * @param frontEnd.kind a code of a page is valid for one minute, a code of a program for five
     * @returns the login, and the milliseconds until the code expires
     * @throws {RelayError} `grant_invalid`, or `code_expired`
     */
    open(code: string, frontEnd: { readonly audience: string; readonly kind: keyof typeof times.code }) {
      const opened = this.openExpired(code, frontEnd.audience);
      if (opened === undefined) throw new RelayError('grant_invalid');
      const lifetime = times.code[frontEnd.kind];
      const left = opened.issuedAt + lifetime - seconds();
      // The code has not been issued yet by this clock.
      if (left > lifetime + clockSkew) throw new RelayError('grant_invalid');
      if (left < 0) throw new RelayError('code_expired');
      return { login: opened.login, left: left * 1000 };
    },
  };
}
