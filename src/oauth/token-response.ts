import { limits } from '../limits.ts';
import { parseJsonObject } from './json.ts';
import { tokenError } from './token-error.ts';

/** What the provider's token endpoint has granted. @see RFC 6749 §5.1 */
export interface TokenResponse {
  readonly accessToken: string;
  /** As the provider writes it; undefined if it names none. */
  readonly tokenType: string | undefined;
  /** Seconds from now, if the provider says so. */
  readonly expiresIn: number | undefined;
  readonly refreshToken: string | undefined;
  /** What was granted, if the provider says so. */
  readonly scope: string | undefined;
}

/**
 * Parses the answer of the token endpoint.
 *
 * @throws {RelayError} why there is no token ({@link tokenError})
 * @see RFC 6749 §5.1
 */
export function parseTokenResponse(answer: {
  readonly status: number;
  readonly body: Uint8Array;
}): TokenResponse {
  const fields = answer.status === 200 ? parseJsonObject(answer.body) : undefined;
  const accessToken = token(fields?.['access_token']);
  if (fields === undefined || accessToken === undefined) throw tokenError(answer);
  return {
    accessToken,
    tokenType: text(fields['token_type']),
    expiresIn: seconds(fields['expires_in']),
    refreshToken: token(fields['refresh_token']),
    scope: text(fields['scope']),
  };
}

/** A token is opaque: any text that a redirect can carry exactly. @see RFC 6749 §1.4 */
function token(value: unknown): string | undefined {
  const usable = text(value);
  const fits = usable !== undefined && Buffer.byteLength(usable) <= limits.accessTokenSize;
  return fits ? usable : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined;
}

/** Some providers send numbers as strings. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}
