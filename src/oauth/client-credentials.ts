import { decodeJwt } from 'jose/jwt/decode';
import { limits } from '../limits.ts';
import { parseBasicCredentials, parseNameWithoutSecret } from './authorization-header.ts';
import type { EndpointParameters } from './endpoint-parameters.ts';

/** @see RFC 7523 §2.2 */
const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A client's claim of who it is, with its unverified proof. */
export interface ClaimedCredentials {
  readonly name: string | undefined;
  /** The possible secrets, because some clients do not encode theirs. */
  readonly secrets?: readonly string[];
  readonly assertion?: string;
}

/**
 * Reads the credentials of a client: `client_secret_basic`, `client_secret_post` or `private_key_jwt`. If names
 * contradict each other, or several methods come at once, only the first name is returned.
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
  const names = [client_id, basic?.name, subject].filter((candidate) => candidate !== undefined);
  const [name] = names;
  const proofsInBody = [client_secret, client_assertion].filter((proof) => proof !== undefined);
  const methodCount = headers.length + proofsInBody.length;
  const isContradictory = names.some((other) => other !== name);
  if (methodCount !== 1 || isContradictory) return { name };
  if (basic !== undefined) return { name, secrets: basic.secrets };
  if (client_secret !== undefined) return { name, secrets: [client_secret] };
  const isJwt = client_assertion !== undefined && client_assertion_type === jwtBearer;
  return isJwt ? { name, assertion: client_assertion } : { name };
}

/**
 * Reads the `client_id` of a public client from the parameter, or from an Authorization header with an empty secret,
 * which some libraries send. A header beside the parameter is ignored, because it may be for a gate in front of the
 * relay.
 *
 * @see RFC 6749 §2.3.1, §3.2.1
 */
export function readPublicClientId(
  [header, ...others]: readonly string[],
  { client_id }: EndpointParameters,
): string | undefined {
  if (client_id !== undefined || others.length > 0) return client_id;
  return parseNameWithoutSecret(header);
}

/** Reads the subject of an unverified assertion. It only tells with whose key the assertion has to be verified. */
function readSubject(assertion: string): string | undefined {
  if (assertion.length > limits.assertionLength) return undefined;
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}
