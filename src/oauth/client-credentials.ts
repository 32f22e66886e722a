import { decodeJwt } from 'jose/jwt/decode';
import { limits } from '../limits.ts';
import { parseBasicCredentials } from './authorization-header.ts';
import type { EndpointParameters } from './endpoint-parameters.ts';

/** @see RFC 7523 §2.2 */
const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Who a client says that it is, and by what it proves that. Nothing of it is verified. */
export interface ClaimedCredentials {
  readonly name: string | undefined;
  /** Its secret, as it may be meant: some clients do not encode it. */
  readonly secrets?: readonly string[];
  /** A JWT that it has signed. */
  readonly assertion?: string;
}

/**
 * Reads what a client shows of itself: `client_secret_basic`, `client_secret_post` or `private_key_jwt`. Of contradictory
 * names, or of several ways at once, nothing counts but the first name.
 *
 * @param headers every Authorization header of the request
 * @see RFC 6749 §2.3, RFC 7521 §4.2
 */
export function readClientCredentials(
  headers: readonly string[],
  { client_id, client_secret, client_assertion, client_assertion_type }: EndpointParameters,
): ClaimedCredentials {
  const basic = parseBasicCredentials(headers[0]);
  const subject = client_assertion && readSubject(client_assertion);
  const names = [client_id, basic?.name, subject].filter((name) => name !== undefined);
  const [name] = names;
  const ways = headers.length + [client_secret, client_assertion].filter((one) => one !== undefined).length;
  if (ways !== 1 || names.some((other) => other !== name)) return { name };
  if (basic !== undefined) return { name, secrets: basic.secrets };
  if (client_secret !== undefined) return { name, secrets: [client_secret] };
  const isJwt = client_assertion !== undefined && client_assertion_type === jwtBearer;
  return isJwt ? { name, assertion: client_assertion } : { name };
}

/** Whom an assertion names. It is not verified, and only says with whose key to do so. */
function readSubject(assertion: string): string | undefined {
  if (assertion.length > limits.assertionLength) return undefined;
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}
