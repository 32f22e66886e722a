import { JWTClaimValidationFailed, JWTExpired } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import * as v from 'valibot';
import { clockSkew } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { hashKey } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { type Kind, kinds } from '../memory/kinds.ts';
import { createMarks } from '../memory/marks.ts';
import type { PublicKey } from '../oauth/public-keys.ts';

/** The longest lifetime of an assertion, in seconds. */
const longestLife = 300;

const seconds = v.pipe(v.number(), v.finite());
const text = v.string();
const claims = v.object({
  aud: v.union([text, v.pipe(v.array(text), v.minLength(1))]),
  exp: seconds,
  iat: v.optional(seconds),
  jti: v.pipe(text, v.minLength(1), v.maxLength(256)),
});

/** Says why an assertion is refused. A client reads this only after its signature was verified, so no stranger does. */
const faults = {
  iss: 'Its iss and sub must be the client_id.',
  exp: 'It must be good now, and end in five minutes at most. Is the clock of the machine wrong?',
  iat: 'It comes from the future. Is the clock of the machine wrong?',
  aud: 'Its aud must be this issuer, or its token endpoint, and nothing else.',
  jti: 'It must have a jti, and was not used before.',
  form: 'A claim is missing, or has another form.',
} as const;

/** Verifies that machines hold their keys, and accepts each assertion once. It remembers the last 65,536. */
export function createAssertions(home: Home, kind: Kind = kinds.usedAssertions) {
  const used = createMarks(home, kind, { isKept: false });

  /**
   * Verifies signature, issuer, subject and times of an assertion.
   *
   * @param name the machine, which must be both issuer and subject
   * @returns its claims
   * @throws the library's errors, which `failIfSigned` tells apart
   */
  async function verifyWithLibrary(assertion: string, { key, algorithms }: PublicKey, name: string) {
    const { payload } = await jwtVerify(assertion, key, {
      // The algorithm never comes from the assertion. With HS256, an attacker could use the public key as the secret.
      algorithms: [...algorithms],
      clockTolerance: clockSkew,
      currentDate: new Date(home.now()),
      issuer: name,
      subject: name,
    });
    return payload;
  }

  return {
    /**
     * Verifies an assertion of a machine, once.
     *
     * @param key a key of the machine
     * @param expected.name the machine, in `iss` and `sub`
     * @param expected.issuer the required audience, so that an assertion for another server does not count
     * @returns false if another key signed the assertion, or it cannot be read
     * @throws {RelayError} `machine_assertion_invalid` if the key signed it, but a claim is wrong
     * @see RFC 7523 §3
     */
    async verify(
      assertion: string,
      key: PublicKey,
      { name, issuer }: { readonly name: string; readonly issuer: string },
    ) {
      if (assertion.length > limits.assertionLength) return false;
      const payload = await verifyWithLibrary(assertion, key, name).catch(failIfSigned);
      if (payload === undefined) return false;
      const { success, output } = v.safeParse(claims, payload);
      if (!success) throw invalid('form');
      const { aud, exp, iat = 0, jti } = output;
      const isForThisIssuer = [aud].flat().every((one) => one === issuer || one === `${issuer}/token`);
      if (!isForThisIssuer) throw invalid('aud');
      const now = home.now() / 1000;
      if (exp > now + longestLife + clockSkew) throw invalid('exp');
      if (iat > now + clockSkew) throw invalid('iat');
      const left = exp + clockSkew - now;
      if (!(await used.mark(hashKey(issuer, name, jti), left * 1000, name))) throw invalid('jti');
      return true;
    },
  };
}

/**
 * Handles an error of the library.
 *
 * @returns undefined if the key did not sign the assertion, or it cannot be read
 * @throws {RelayError} `machine_assertion_invalid` if a claim is wrong: the library compares claims after the signature
 */
function failIfSigned(error: unknown): undefined {
  if (error instanceof JWTExpired) throw invalid('exp');
  if (error instanceof JWTClaimValidationFailed) throw invalid(faultOfClaim[error.claim] ?? 'form');
}

const faultOfClaim: Readonly<Partial<Record<string, keyof typeof faults>>> = { iss: 'iss', sub: 'iss', nbf: 'iat' };

function invalid(fault: keyof typeof faults): RelayError {
  return new RelayError('machine_assertion_invalid', {
    detail: `The assertion is signed with this machine's key, but what it says is not valid. ${faults[fault]}`,
  });
}
