import { RelayError } from '../errors.ts';
import type { Proofs } from '../grants/proofs.ts';
import type { Context } from '../http/context.ts';

/**
 * Verifies the DPoP proof of a request, if it has one.
 *
 * @param url the endpoint's public address
 * @returns the thumbprint of the proved key
 * @throws {RelayError} `proof_invalid`
 * @see RFC 9449 §4.3
 */
export async function proofOf(
  ctx: Context,
  proofs: Proofs,
  url: string,
): Promise<string | undefined> {
  const [proof, ...others] = ctx.req.headersDistinct['dpop'] ?? [];
  if (others.length > 0) throw new RelayError('proof_invalid');
  return proof === undefined ? undefined : await proofs.verify(proof, { method: ctx.method, url });
}
