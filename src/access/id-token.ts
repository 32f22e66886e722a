import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose/jwt/decode';
import { clockSkew } from '../clock.ts';
import type { FieldFault, RelayError } from '../failures/relay-error.ts';
import type { Item } from './fields.ts';
import { unknownIdentity } from './identity.ts';

export interface Expected {
  readonly issuer: string | undefined;
  readonly clientId: string;
  /** The nonce of the login. Without a value, no ID token fits. Undefined at a refresh, whose ID token need not repeat it. */
  readonly nonce: { readonly value: string | undefined } | undefined;
  /** The {@link hashSubject} of the person who logged in. Undefined if it is not known, or at the login itself. */
  readonly subjectId?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Reads and verifies the claims of an ID token that comes directly from the token endpoint. Its signature is not
 * needed, because TLS and the client secret prove where it comes from.
 *
 * @throws {RelayError} `identity_unknown`, with the name of the wrong claim. `check --login` advises on a claim that
 *   does not fit the login by its name (`comparedClaims` in check/login/person.ts)
 * @see OpenID Connect Core 1.0 §3.1.3.7 and §12.2
 */
export function readIdToken(token: string | undefined, expected: Expected): Item {
  const claims = decodeClaims(token);
  if (claims === undefined) throw wrongClaim('id_token', token === undefined ? 'missing' : 'shape');
  const { iss, aud, azp, exp, nonce, sub } = claims;
  if (expected.issuer === undefined || iss !== expected.issuer) throw wrongClaim('iss', missingOrMismatch(iss));
  const audiences = [aud].flat();
  if (!audiences.includes(expected.clientId)) throw wrongClaim('aud', missingOrMismatch(aud));
  // A token for several clients only counts if it was issued to this client.
  const isOwn = azp === undefined ? audiences.length === 1 : azp === expected.clientId;
  if (!isOwn) throw wrongClaim('azp', missingOrMismatch(azp));
  if (typeof exp !== 'number') throw wrongClaim('exp', exp === undefined ? 'missing' : 'shape');
  if (!(exp * 1000 > expected.now - clockSkew * 1000)) throw wrongClaim('exp', 'expired');
  const isOfLogin = expected.nonce === undefined || (nonce !== undefined && nonce === expected.nonce.value);
  if (!isOfLogin) throw wrongClaim('nonce', missingOrMismatch(nonce));
  if (typeof sub !== 'string' || sub === '') throw wrongClaim('sub', sub === undefined ? 'missing' : 'shape');
  expectSubject(sub, expected.subjectId);
  return claims;
}

/**
 * Hashes the `sub` of an ID token, to recognize the person at a refresh.
 *
 * @returns undefined without a token or its `sub`
 */
export function hashSubject(token: string | undefined): string | undefined {
  const sub = decodeClaims(token)?.['sub'];
  return typeof sub === 'string' ? hashShort(sub) : undefined;
}

/**
 * Requires that a record is about the person who logged in, if both name their subject.
 *
 * @param sub the `sub` of the record
 * @param subjectId the `hashSubject` of the login; undefined if it is not known
 * @throws {RelayError} `identity_unknown`
 * @see OpenID Connect Core 1.0 §5.3.2 and §12.2
 */
export function expectSubject(sub: unknown, subjectId: string | undefined): void {
  if (subjectId === undefined || typeof sub !== 'string') return;
  if (hashShort(sub) !== subjectId) throw wrongClaim('sub', 'mismatch');
}

/** Only 16 bytes, because the hash is part of the refresh token, which has to fit into a request. */
const hashShort = (sub: string) => createHash('sha256').update(sub).digest().subarray(0, 16).toString('base64url');

/** Decodes the claims of an ID token without verifying them. @returns undefined without a token, or if it is not a JWT */
export function decodeClaims(token: string | undefined): Item | undefined {
  try {
    return token === undefined ? undefined : decodeJwt(token);
  } catch {
    return undefined;
  }
}

const missingOrMismatch = (claim: unknown) => (claim === undefined ? 'missing' : 'mismatch');

function wrongClaim(field: string, reason: FieldFault['reason']): RelayError {
  return unknownIdentity([{ field, reason }]);
}
