import * as v from 'valibot';
import type { KeyRing } from '../keys.ts';
import { createSeal } from './sealed.ts';

/** Seconds until a code expires. */
export const codeLifetime = 60;
/** Seconds by which the clocks of replicas may differ. */
const clockSkew = 60;

const contentOfCode = v.object({
  registration: v.string(),
  frontEnd: v.string(),
  redirectUri: v.string(),
  codeChallenge: v.string(),
  providerCode: v.string(),
  codeVerifier: v.optional(v.string()),
});
const content = v.object({ ...contentOfCode.entries, issuedAt: v.number() });

/** A login that the provider has granted, until the front end redeems it. */
export interface CodeContent {
  /** The audience of the registration. */
  readonly registration: string;
  readonly frontEnd: string;
  /** The redirect URI that the front end has named. @see RFC 6749 §4.1.3 */
  readonly redirectUri: string;
  /** The front end's S256 challenge. @see RFC 7636 §4.2 */
  readonly codeChallenge: string;
  /** The provider's code, unspent. */
  readonly providerCode: string;
  /** The relay's own verifier at the provider, if the login uses PKCE there. */
  readonly codeVerifier?: string | undefined;
}

/** The codes that the relay issues to front ends. Nothing is stored: a code holds its login, sealed. */
export interface Codes {
  /** Issues a code that is valid for 60 seconds. */
  issue(content: CodeContent): Promise<string>;
  /** @returns undefined if the code is altered, expired, or not of this relay */
  open(code: string): Promise<CodeContent | undefined>;
}

/**
 * @param keys the keys for codes
 * @param now milliseconds since 1970
 * @see RFC 6749 §4.1.2
 */
export function createCodes(keys: KeyRing, now: () => number): Codes {
  const seal = createSeal(keys, content);
  const seconds = () => Math.floor(now() / 1000);
  return {
    issue: (issued) => seal.seal({ ...issued, issuedAt: seconds() }),
    async open(code) {
      const opened = await seal.open(code);
      if (opened === undefined) return undefined;
      const { issuedAt, ...issued } = opened;
      const age = seconds() - issuedAt;
      return age <= codeLifetime && age >= -clockSkew ? issued : undefined;
    },
  };
}
