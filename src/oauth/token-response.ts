import { limits } from '../limits.ts';
import type { Provider } from '../providers/provider.ts';
import { type ExtraFields, pickTexts } from './extra-fields.ts';
import { isObject, type JsonObject } from './json.ts';
import { explainMissingToken, type GrantType } from './token-error.ts';
import { anyAnswer } from './token-response-format.ts';

/** The tokens that the provider's token endpoint granted. @see RFC 6749 §5.1 */
export type TokenResponse = Readonly<Omit<ReturnType<typeof parseTokenResponse>, 'extraFields'>> & {
  readonly extraFields?: ExtraFields | undefined;
};

/** How a provider's token answers differ from RFC 6749 §5.1. */
type TokenDialect = Pick<
  Provider,
  'tokenAnswer' | 'tokenFields' | 'scopeSeparator' | 'answerScopeSeparator' | 'userFrom'
>;

/** 30,000 years. A larger number is no lifetime. */
const longestLifetime = 1e12;

/**
 * Parses the answer of the token endpoint. By default, every 2xx with a usable access token counts as an answer.
 *
 * @param rule which answers may contain a token
 * @throws {RelayError} why there is no token ({@link explainMissingToken})
 * @see RFC 6749 §5.1
 */
export function parseTokenResponse(
  answer: { readonly status: number; readonly body: Uint8Array },
  dialect: TokenDialect = {},
  grant: GrantType = 'authorization_code',
  rule = anyAnswer,
) {
  const object = rule.isAnswer(answer.status) ? rule.parse(answer.body) : undefined;
  const fields = object && findUserFields(object, dialect.tokenAnswer);
  const accessToken = readText(fields?.['access_token'], limits.accessTokenSize);
  if (fields === undefined || accessToken === undefined) throw explainMissingToken(answer, grant, rule);
  const idToken = dialect.userFrom === 'id-token' ? readText(fields['id_token'], limits.idTokenSize) : undefined;
  const extraFields = pickTexts(dialect.tokenFields, (name) =>
    Object.hasOwn(fields, name) ? fields[name] : undefined,
  );
  return {
    accessToken,
    tokenType: readText(fields['token_type']),
    expiresIn: readSeconds(fields['expires_in']),
    refreshToken: readText(fields['refresh_token'], limits.refreshTokenSize),
    /** Whole seconds from now. */
    // GitHub has this field. Keycloak's refresh_expires_in is not read, because its 0 means that the token never ends.
    refreshExpiresIn: readSeconds(fields['refresh_token_expires_in']),
    scope: readScope(fields['scope'], dialect.answerScopeSeparator ?? dialect.scopeSeparator),
    /** Set only if the relay reads who the person is from it. It never leaves the relay. */
    ...(idToken !== undefined && { idToken }),
    ...(extraFields && { extraFields }),
  };
}

/**
 * Finds the object with the person's token, which Slack puts beside the token of its bot.
 *
 * @param fieldName the field that may contain the object
 */
function findUserFields(fields: JsonObject, fieldName: string | undefined): JsonObject {
  if (fieldName === undefined || typeof fields['access_token'] === 'string') return fields;
  const nested = Object.hasOwn(fields, fieldName) ? fields[fieldName] : undefined;
  return isObject(nested) ? nested : fields;
}

/** Reads a text that a redirect can carry exactly. @returns undefined if the value is no such text */
function readText(value: unknown, maxBytes = Number.POSITIVE_INFINITY): string | undefined {
  if (typeof value !== 'string' || value === '' || !value.isWellFormed()) return undefined;
  return Buffer.byteLength(value) <= maxBytes ? value : undefined;
}

/**
 * Reads a lifetime, which some providers send as a string.
 *
 * @returns undefined for 0, which some providers send for a token that never ends
 */
function readSeconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  const isLifetime = typeof number === 'number' && number >= 1 && number < longestLifetime;
  return isLifetime ? Math.floor(number) : undefined;
}

/**
 * Reads a scope, and separates its words by single spaces. Twitch sends a list.
 *
 * @param separator separates the words of a text, besides spaces
 * @returns undefined if there is no scope, or a word of it is no text
 */
function readScope(value: unknown, separator = ' '): string | undefined {
  const parts: readonly unknown[] | undefined = Array.isArray(value)
    ? value
    : readText(value)?.replaceAll(separator, ' ').split(' ');
  const words = parts?.filter((part) => part !== '').map((part) => readText(part)?.trim());
  if (!words?.every((word) => word !== undefined)) return undefined;
  return readText(words.filter((word) => word !== '').join(' '));
}
