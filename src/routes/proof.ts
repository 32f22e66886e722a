import { RelayError } from '../errors.ts';
import type { Grants } from '../grants/grants.ts';
import type { Context } from '../http/context.ts';

/**
 * Verifies the DPoP proof of a request, if it has one.
 *
 * @param url the endpoint's public address
 * @returns the thumbprint of the proved key
 * @throws {RelayError} `proof_invalid`, `nonce_required`
 * @see RFC 9449 §4.3
 */
export async function proofOf(
  ctx: Context,
  { proofs, nonces }: Pick<Grants, 'proofs' | 'nonces'>,
  url: string,
): Promise<string | undefined> {
  const [proof, ...others] = ctx.req.headersDistinct['dpop'] ?? [];
  if (others.length > 0) throw new RelayError('proof_invalid');
  return proof === undefined
    ? undefined
    : await proofs.verify(proof, { method: ctx.method, url, nonces });
}
