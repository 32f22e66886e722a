import { createHmac, timingSafeEqual } from 'node:crypto';
// The main module of jose would load encryption too.
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { jwtVerify } from 'jose/jwt/verify';
import { importJWK } from 'jose/key/import';
import * as v from 'valibot';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { hashKey } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import { createMarks } from '../memory/marks.ts';
import { isPrivateJwk } from '../oauth/public-keys.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { times } from '../times.ts';

export const proofAlgorithms = ['ES256', 'EdDSA', 'Ed25519'];

// 32 bytes. The last character has two unused bits, which must be zero so that a key has only one thumbprint.
const coordinate = v.pipe(v.string(), v.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/));
const publicJwk = v.pipe(
  v.looseObject({}),
  v.check((jwk) => !isPrivateJwk(jwk)),
  v.variant('kty', [
    v.object({ kty: v.literal('EC'), crv: v.literal('P-256'), x: coordinate, y: coordinate }),
    v.object({ kty: v.literal('OKP'), crv: v.literal('Ed25519'), x: coordinate }),
  ]),
);
const header = v.object({
  typ: v.literal('dpop+jwt'),
  alg: v.picklist(proofAlgorithms),
  jwk: publicJwk,
});
const claims = v.object({
  htm: v.string(),
  htu: v.string(),
  iat: v.pipe(v.number(), v.finite()),
  jti: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  nonce: v.optional(v.string()),
});

/** Milliseconds for which a nonce is handed out. After that, it is accepted for as long again. */
const nonceTime = 300_000;

export type Nonces = ReturnType<typeof createNonces>;

/**
 * Creates and checks the nonces of DPoP proofs. With nonces, an attacker who can use a key for a moment cannot sign
 * proofs for later. No nonce is stored, because relays with the same keys derive the same nonces from the time.
 *
 * @see RFC 9449 §8
 */
export function createNonces(keys: KeyRing, now: Clock) {
  /** The nonce of a slot of five minutes. @param age the number of slots that have passed since */
  const deriveNonce = (key: Buffer, age: number) =>
    createHmac('sha256', key)
      .update(`${Math.floor(now() / nonceTime) - age}`)
      .digest('base64url');
  return {
    current: () => deriveNonce(keys[0], 0),
    /** Whether the nonce belongs to the present five minutes, or to the five before. */
    accepts(nonce: string): boolean {
      const given = Buffer.from(nonce);
      const valid = keys.flatMap((key) => [0, 1].map((age) => Buffer.from(deriveNonce(key, age))));
      return valid.some((one) => one.length === given.length && timingSafeEqual(one, given));
    },
  };
}

interface ProvedRequest {
  readonly method: string;
  readonly url: string;
  readonly nonces: Nonces | undefined;
  readonly accept?: (thumbprint: string) => void;
}

/**
 * Verifies that callers hold the private keys that they show, and accepts each proof once. It remembers the last
 * 65,536.
 */
export function createProofs(home: Home) {
  const seen = createMarks(home, kinds.usedProofs, { isKept: false });

  return {
    /**
     * Verifies the DPoP proof of a request, if it has one.
     *
     * @param headers the values of the request's `DPoP` headers
     * @param request as for `verify`. Without a proof, `accept` is called with undefined
     * @returns the thumbprint of the proved key
     * @throws {RelayError} as `verify`, or what `accept` throws
     */
    async verifyIfSent(
      [proof, ...others]: readonly string[],
      request: ProvedRequest & { readonly accept: (thumbprint: string | undefined) => void },
    ): Promise<string | undefined> {
      if (others.length > 0) throw new RelayError('proof_invalid');
      if (proof !== undefined) return await this.verify(proof, request);
      request.accept(undefined);
      return undefined;
    },
    /**
     * Verifies a DPoP proof, once.
     *
     * @param proof the value of the only `DPoP` header
     * @param request.url the public address of the endpoint
     * @param request.nonces undefined if the proof needs no nonce
     * @param request.accept called with the thumbprint before the proof is remembered. If it throws, the proof is not
     *   remembered, so that one login cannot fill the memory of all logins with its proofs
     * @returns the thumbprint of the proved key
     * @throws {RelayError} `proof_invalid`, or `nonce_required` with the nonce to use
     * @see RFC 9449 §4.3
     */
    async verify(proof: string, request: ProvedRequest): Promise<string> {
      const { method, url, nonces, accept } = request;
      const { thumbprint, htm, htu, iat, jti, nonce = '' } = await verifySignature(proof, home.now());
      if (htm !== method || !isSameUrl(htu, url)) {
        throw proofInvalid(`The DPoP proof is for another request than ${method} ${url}.`);
      }
      // Before the check of `iat`: a page with a wrong clock corrects it by the Date of the answer that has the nonce.
      if (nonces?.accepts(nonce) === false) {
        throw new RelayError('nonce_required', { headers: { 'DPoP-Nonce': nonces.current() } });
      }
      if (Math.abs(home.now() / 1000 - iat) > times.proof) {
        throw proofInvalid('The DPoP proof is not of this minute. Is the clock of the device wrong?');
      }
      accept?.(thumbprint);
      if (!(await seen.mark(hashKey(thumbprint, jti), kinds.usedProofs.lifetime))) {
        throw proofInvalid('The DPoP proof was used before: each request needs its own.');
      }
      return thumbprint;
    },
  };
}

/** Verifies the signature of a proof with the key in the proof. @throws {RelayError} `proof_invalid` */
async function verifySignature(proof: string, now: number) {
  if (proof.length > limits.proofLength) throw new RelayError('proof_invalid');
  try {
    const { alg, jwk } = v.parse(header, decodeProtectedHeader(proof));
    // The library refuses headers with `crit`.
    const { payload } = await jwtVerify(proof, await importJWK(jwk, alg), {
      algorithms: [alg],
      currentDate: new Date(now),
    });
    return { thumbprint: await calculateJwkThumbprint(jwk), ...v.parse(claims, payload) };
  } catch {
    // An error of any of the libraries means that the proof is invalid.
    throw new RelayError('proof_invalid');
  }
}

/** Whether two URLs are the same apart from query and fragment. @see RFC 9449 §4.3 */
function isSameUrl(htu: string, url: string): boolean {
  const claimed = URL.parse(htu);
  if (claimed === null) return false;
  claimed.search = '';
  claimed.hash = '';
  return claimed.href === new URL(url).href;
}

function proofInvalid(detail: string): RelayError {
  return new RelayError('proof_invalid', { detail });
}
