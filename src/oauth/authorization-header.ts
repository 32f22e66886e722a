import { RelayError } from '../failures/relay-error.ts';

/** Whether an Authorization header can carry the token: it is visible ASCII. @see RFC 6750 §2.1 */
export function isCredential(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

/**
 * Reads the access token from an Authorization header: its second part, separated by spaces. The
 * scheme is not checked.
 *
 * @param values every Authorization header of the request
 * @throws {RelayError} `credentials_missing`, `credentials_repeated`, `credentials_malformed` or
 *   `token_malformed`
 * @see RFC 6750 §2.1
 */
export function parseBearerToken(values: readonly string[]): string {
  const [value] = values;
  if (value === undefined) throw new RelayError('credentials_missing');
  if (values.length > 1) throw new RelayError('credentials_repeated');
  const [, token] = /^ *[^ ]+ +([^ ]+)/.exec(value) ?? [];
  if (token === undefined) throw new RelayError('credentials_malformed');
  if (!isCredential(token)) throw new RelayError('token_malformed');
  return token;
}
