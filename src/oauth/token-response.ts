import { limits } from '../limits.ts';
import type { Provider } from '../providers/provider.ts';
import { type ExtraFields, pickTexts } from './extra-fields.ts';
import { isObject, type JsonObject } from './json.ts';
import { anyAnswer } from './token-answer.ts';
import { type GrantType, tokenError } from './token-error.ts';

/** What the provider's token endpoint granted. @see RFC 6749 §5.1 */
export type TokenResponse = Readonly<Omit<ReturnType<typeof parseTokenResponse>, 'extraFields'>> & {
  readonly extraFields?: ExtraFields | undefined;
};

/** How a provider's token answers differ from RFC 6749 §5.1. */
type TokenDialect = Pick<
  Provider,
  'tokenAnswer' | 'tokenFields' | 'scopeSeparator' | 'answerScopeSeparator' | 'userFrom'
>;

/** 30,000 years. A larger number is not a time. */
const maxSeconds = 1e12;

/**
 * Parses the answer of the token endpoint. By default, any status 2xx with a usable access token is one.
 *
 * @param rule which answers may contain a token
 * @throws {RelayError} why there is no token ({@link tokenError})
 * @see RFC 6749 §5.1
 */
export function parseTokenResponse(
  answer: { readonly status: number; readonly body: Uint8Array },
  dialect: TokenDialect = {},
  grant: GrantType = 'authorization_code',
  rule = anyAnswer,
) {
  const object = rule.isAnswer(answer.status) ? rule.parse(answer.body) : undefined;
  const fields = object && fieldsOfUser(object, dialect.tokenAnswer);
  const accessToken = text(fields?.['access_token'], limits.accessTokenSize);
  if (fields === undefined || accessToken === undefined) throw tokenError(answer, grant, rule);
  const idToken = dialect.userFrom === 'id-token' ? text(fields['id_token'], limits.idTokenSize) : undefined;
  const extraFields = pickTexts(dialect.tokenFields, (name) =>
    Object.hasOwn(fields, name) ? fields[name] : undefined,
  );
  return {
    accessToken,
    tokenType: text(fields['token_type']),
    expiresIn: seconds(fields['expires_in']),
    refreshToken: text(fields['refresh_token'], limits.refreshTokenSize),
    /** Whole seconds from now, as GitHub says. */
    // Keycloak's refresh_expires_in is not read: its 0 means that the token never ends.
    refreshExpiresIn: seconds(fields['refresh_token_expires_in']),
    scope: scope(fields['scope'], dialect.answerScopeSeparator ?? dialect.scopeSeparator),
    /** Only set if the relay reads it. It never leaves the relay. @see OpenID Connect Core 1.0 §3.1.3.3 */
    ...(idToken !== undefined && { idToken }),
    ...(extraFields && { extraFields }),
  };
}

/** Slack puts the person's token beside its bot's. */
function fieldsOfUser(fields: JsonObject, holder: string | undefined): JsonObject {
  if (holder === undefined || typeof fields['access_token'] === 'string') return fields;
  const nested = Object.hasOwn(fields, holder) ? fields[holder] : undefined;
  return isObject(nested) ? nested : fields;
}

/** Text that a redirect can carry exactly. @see RFC 6749 §1.4 */
function text(value: unknown, maxBytes = Number.POSITIVE_INFINITY): string | undefined {
  if (typeof value !== 'string' || value === '' || !value.isWellFormed()) return undefined;
  return Buffer.byteLength(value) <= maxBytes ? value : undefined;
}

/** A lifetime. Some providers send it as a string, and 0 for a token that never ends. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  const isTime = typeof number === 'number' && number >= 1 && number < maxSeconds;
  return isTime ? Math.floor(number) : undefined;
}

/** A scope with single spaces. Twitch sends a list, others a text. A space always separates words. */
function scope(value: unknown, separator = ' '): string | undefined {
  const words = Array.isArray(value) ? value : text(value)?.replaceAll(separator, ' ').split(' ');
  const named = words?.map((word) => (word === '' ? '' : text(word)?.trim())).filter((word) => word !== '');
  return named?.every((word) => word !== undefined) ? text(named.join(' ')) : undefined;
}
