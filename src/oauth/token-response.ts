import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { Provider } from '../providers/provider.ts';
import {
  failureMeantBy,
  messageMeanings,
  type ProviderErrorCode,
  providerErrorCode,
  refusalStatuses,
  wrongGrants,
} from '../providers/refusals.ts';
import { isObject, parseJsonObject } from './json.ts';

/** What the provider's token endpoint has granted. @see RFC 6749 §5.1 */
export type TokenResponse = Readonly<ReturnType<typeof parseTokenResponse>>;

/** The fields of a JSON object. */
type Fields = Readonly<Record<string, unknown>>;

/** A number beyond this is no time: 30,000 years. */
const maxSeconds = 1e12;

/**
 * Parses the answer of the token endpoint.
 *
 * @throws {RelayError} why there is no token ({@link tokenError})
 * @see RFC 6749 §5.1
 */
export function parseTokenResponse(
  answer: { readonly status: number; readonly body: Uint8Array },
  { tokenResponse: dialect = {} }: Pick<Provider, 'tokenResponse'> = {},
  grant: GrantType = 'authorization_code',
) {
  const object = answer.status === 200 ? parseJsonObject(answer.body) : undefined;
  const fields = object && fieldsOfUser(object, dialect.nestedIn);
  const accessToken = text(fields?.['access_token'], limits.accessTokenSize);
  if (fields === undefined || accessToken === undefined) throw tokenError(answer, grant);
  return {
    accessToken,
    /** As the provider writes it, if it names one. */
    tokenType: text(fields['token_type']),
    /** Whole seconds from now, if the provider says so. */
    expiresIn: seconds(fields['expires_in']),
    refreshToken: text(fields['refresh_token'], limits.refreshTokenSize),
    /** Whole seconds from now until the refresh token ends, if the provider says so. */
    // GitHub's. Keycloak's refresh_expires_in is not read: its 0 means that the token never ends.
    refreshExpiresIn: seconds(fields['refresh_token_expires_in']),
    /** What was granted, if the provider says so: words with single spaces. */
    scope: scope(fields['scope'], dialect.scopeSeparator),
  };
}

function fieldsOfUser(fields: Fields, nestedIn: string | undefined): Fields {
  if (nestedIn === undefined || typeof fields['access_token'] === 'string') return fields;
  const nested = fields[nestedIn];
  return isObject(nested) ? nested : fields;
}

/** Text that a redirect can carry exactly. @see RFC 6749 §1.4 */
function text(value: unknown, maxBytes = Number.POSITIVE_INFINITY): string | undefined {
  if (typeof value !== 'string' || value === '' || !value.isWellFormed()) return undefined;
  return Buffer.byteLength(value) <= maxBytes ? value : undefined;
}

/** Some providers send numbers as strings, and 0 for a token that never ends. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  const isTime = typeof number === 'number' && number >= 1 && number < maxSeconds;
  return isTime ? Math.floor(number) : undefined;
}

/** Twitch sends a list, others a text. */
function scope(value: unknown, separator = ' '): string | undefined {
  const words = Array.isArray(value) ? value : text(value)?.split(separator);
  const named = words?.map((word) => text(word)?.trim()).filter((word) => word !== '');
  return named?.every((word) => word !== undefined) ? text(named.join(' ')) : undefined;
}

const tooManyRequests = 429;

/** The kind of a token request. @see RFC 6749 §4.1.3 and §6 */
export type GrantType = 'authorization_code' | 'refresh_token';

/** Descriptions of a wrong redirect URI. A description that names other causes too says nothing. */
const namesRedirectUri = /\bredirect[ _]ur[il]\b/i;
const namesOthers = /\bcode\b|expired/i;

/**
 * Why a token response holds no token.
 *
 * @returns for a code, `code_refused`, `client_refused`, `redirect_uri_refused`, `token_endpoint_failed`, or else
 *   `token_refused` for an error status and `token_missing` for a 200. For a refresh token, `client_refused`,
 *   `token_endpoint_failed`, `scope_refused`, `token_missing` for a 200 without an error, and else `refresh_refused`
 * @see RFC 6749 §5.2
 */
export function tokenError(
  { status, body }: { readonly status: number; readonly body: Uint8Array },
  grant: GrantType = 'authorization_code',
): RelayError {
  const answer = parseJsonObject(body) ?? {};
  const providerError = providerErrorCode(answer['error']);
  const failed = status >= 500 || status === tooManyRequests;
  const meaning = failed ? 'token_endpoint_failed' : meaningOf(providerError, answer);
  if (grant === 'refresh_token') {
    const code = meaningOfRefresh(status, meaning, providerError, answer);
    return new RelayError(code, { detail: refreshDetails[code], providerError });
  }
  if (status !== 200) return new RelayError(meaning ?? 'token_refused', { providerError });
  if (meaning === undefined) return new RelayError('token_missing', { providerError });
  // GitHub and Slack refuse with status 200.
  const { detail } = new RelayError(meaning);
  return new RelayError(meaning, {
    detail: detail.replace('Token retrieval failed', 'The access token is empty'),
    providerError,
  });
}

function meaningOf(
  code: ProviderErrorCode | undefined,
  { error_description: description, message }: Fields,
): FailureCode | undefined {
  if (code === undefined) return messageMeanings.get(message);
  const text = typeof description === 'string' ? description : '';
  if (namesRedirectUri.test(text) && !namesOthers.test(text)) return 'redirect_uri_refused';
  if (code === 'unauthorized_client' && wrongGrants.has(text)) return 'code_refused';
  const meaning = failureMeantBy(code);
  // A token request asks no person.
  return meaning && meaning !== 'access_denied' ? meaning : messageMeanings.get(message);
}

function meaningOfRefresh(
  status: number,
  meaning: FailureCode | undefined,
  code: ProviderErrorCode | undefined,
  { error, message }: Fields,
): FailureCode {
  if (meaning === 'client_refused' || meaning === 'token_endpoint_failed') return meaning;
  if (error === 'invalid_scope') return 'scope_refused';
  const saysWhy = (error ?? message) !== undefined;
  if (status === 200 && !saysWhy) return 'token_missing';
  // Neither a firewall nor a rate limit may end the login. GitHub's rate limit answers 403 with a message.
  const isKnown = code !== undefined && code !== 'other';
  const isRefusal = refusalStatuses.has(status) ? saysWhy : isKnown;
  return isRefusal ? 'refresh_refused' : 'token_endpoint_failed';
}

/** The details for a refresh, because it is not a login. */
const refreshDetails: Readonly<Partial<Record<FailureCode, string>>> = {
  scope_refused: 'The provider does not renew the login for this scope.',
  token_endpoint_failed: 'The provider reports an internal problem. Try again in a moment.',
  token_missing: 'The provider answered the refresh without a usable token. Try again in a moment.',
};
