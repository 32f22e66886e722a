import { RelayError } from '../failures/relay-error.ts';
import { decodeFormValue } from './query.ts';

/** Whether an Authorization header can carry the token, which must be visible ASCII. @see RFC 6750 §2.1 */
export function isCredential(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

/**
 * Reads the access token from an Authorization header: its second word, after any scheme, as the contract says.
 *
 * @param values every Authorization header of the request
 * @throws {RelayError} `credentials_missing`, `credentials_repeated`, `credentials_malformed` or `token_malformed`
 * @see RFC 6750 §2.1
 */
export function requireTokenOfAnyScheme(values: readonly string[]): string {
  const [value] = values;
  if (value === undefined) throw new RelayError('credentials_missing');
  if (values.length > 1) throw new RelayError('credentials_repeated');
  const [, token] = /^ *[^ ]+ +([^ ]+)/.exec(value) ?? [];
  if (token === undefined) throw new RelayError('credentials_malformed');
  if (!isCredential(token)) throw new RelayError('token_malformed');
  return token;
}

/** Schemes of gates and of single sign-on in front of the relay. Their credentials are never access tokens. */
const gateSchemes = /^ *(?:digest|hoba|mutual|negotiate|ntlm|scram-sha-1|scram-sha-256)(?: |$)/i;

/**
 * Returns the Authorization headers of a request, or none if the only header is for a gate in front of the relay. A
 * browser sends the gate's password with each request, and the relay would send it to the provider as a token.
 *
 * @param values every Authorization header of the request
 * @see RFC 7617 §2
 */
export function withoutGateCredentials(values: readonly string[]): readonly string[] {
  const [value, second] = values;
  if (value === undefined || second !== undefined) return values;
  return gateSchemes.test(value) || isUserAndPassword(value) ? [] : values;
}

/**
 * Whether a Basic header decodes to a user name, a colon and a password. An access token may follow `Basic` as well.
 */
function isUserAndPassword(value: string): boolean {
  const [, encoded] = /^ *basic +([\w+/-]+={0,2})(?:[ ,]|$)/i.exec(value) ?? [];
  if (encoded === undefined) return false;
  const text = Buffer.from(encoded, 'base64').toString();
  // A token that happens to be base64 decodes to bytes that are control characters or no UTF-8 (U+FFFD). A password may
  // contain U+FFFD, because its charset is unknown.
  return /^[^:\p{Cc}\ufffd]*:\P{Cc}*$/u.test(text);
}

/**
 * Whether a request has a token for a resource, even a malformed one. Credentials of another scheme than `Bearer` are
 * not for the resource.
 *
 * @param values every Authorization header of the request
 */
export function hasResourceToken([value, second]: readonly string[]): boolean {
  return second !== undefined || (value !== undefined && /^ *bearer( |$)/i.test(value));
}

/**
 * Reads the access token for a resource from an Authorization header, which must have the scheme `Bearer`.
 *
 * @param values every Authorization header of the request
 * @throws {RelayError} `resource_token_missing`, `resource_token_misplaced` or `resource_token_invalid`
 * @see RFC 6750 §2.1
 */
export function requireResourceToken(values: readonly string[]): string {
  if (!hasResourceToken(values)) throw new RelayError('resource_token_missing');
  const [value = '', second] = values;
  if (second !== undefined) throw new RelayError('resource_token_misplaced');
  const [, token] = /^ *bearer +([\x21-\x7e]+) *$/i.exec(value) ?? [];
  if (token === undefined) throw new RelayError('resource_token_invalid');
  return token;
}

/**
 * Reads client credentials from an Authorization header.
 *
 * @returns the name, and the possible secrets, because some clients do not encode theirs; undefined if the header lacks
 *   the name or the secret. The name is not decoded, because the names of machines and resources need no encoding
 * @see RFC 6749 §2.3.1, RFC 7617 §2
 */
export function parseBasicCredentials(
  value: string | undefined,
): { readonly name: string; readonly secrets: readonly string[] } | undefined {
  const [, name, secret] = /^([^:]+):(.+)$/s.exec(decodeBasic(value)) ?? [];
  if (name === undefined || secret === undefined) return undefined;
  return { name, secrets: [secret, decodeFormValue(secret)] };
}

/**
 * Reads the name of a public client from a Basic header with an empty secret. The name is decoded, because it may be the
 * URL of a document.
 *
 * @returns undefined if it is no such header
 */
export function parseNameWithoutSecret(value: string | undefined): string | undefined {
  const [, name] = /^([^:]+):$/.exec(decodeBasic(value)) ?? [];
  return name === undefined ? undefined : decodeFormValue(name);
}

/** Decodes the credentials of a Basic header. @returns an empty text if it is no such header */
function decodeBasic(value = ''): string {
  const [, encoded = ''] = /^ *basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(value) ?? [];
  return Buffer.from(encoded, 'base64').toString();
}
