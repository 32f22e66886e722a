import { type ProviderErrorCode, readProviderErrorCode } from '../providers/error-codes.ts';
import { isObject, type JsonObject, parseJsonObject } from './json.ts';
import { parseQuery } from './query.ts';

/** Whether a status is any 2xx. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Whether a status is 200, the only one that the contract accepts. */
export const isOk = (status: number): boolean => status === 200;

/** Parses an answer of the token endpoint: a JSON object, or a form. @returns undefined if it is neither */
export function parseTokenAnswer(body: Uint8Array): JsonObject | undefined {
  return parseJsonObject(body) ?? parseForm(body);
}

/** Which answers of the token endpoint may contain a token. */
export interface AnswerRule {
  readonly isAnswer: (status: number) => boolean;
  readonly parse: (body: Uint8Array) => JsonObject | undefined;
}

/** Accepts every status of success, with JSON or a form. */
export const anyAnswer: AnswerRule = { isAnswer: isSuccess, parse: parseTokenAnswer };

/** Accepts only status 200 with JSON, as the contract says. */
export const contractAnswer: AnswerRule = { isAnswer: isOk, parse: parseJsonObject };

// The whole text has to match, because an HTML page that contains `access_token=` is no form.
const form = /^[\w.%-]+=[^\s"<>\\^`{|}&]*(&[\w.%-]+=[^\s"<>\\^`{|}&]*)*$/;

/** Parses a form, which some servers send even if `Accept` excludes it. A repeated field has no usable value. */
function parseForm(body: Uint8Array): JsonObject | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1').trim();
  if (!form.test(text)) return undefined;
  const fields = parseQuery(text);
  const isAnswer = fields['access_token'] !== undefined || fields['error'] !== undefined;
  return isAnswer ? fields : undefined;
}

/** The fields in which providers put an error code. RFC 6749 has `error`. */
const errorCodeFields = ['errorType', 'errorCode', 'error_code', 'code', 'type', 'error'];

/**
 * Finds the error code of an answer. Fitbit puts it into a list of errors, other providers into an object or another
 * field. There, only a known code counts, because such fields may contain anything.
 *
 * @see RFC 6749 §5.2
 */
export function findErrorCode(answer: JsonObject): ProviderErrorCode | undefined {
  const { error, errors } = answer;
  const standardCode = readProviderErrorCode(error);
  if (standardCode !== undefined && standardCode !== 'other') return standardCode;
  const holders = [answer, error, Array.isArray(errors) ? errors[0] : undefined].filter(isObject);
  const codes = holders.flatMap((holder) => errorCodeFields.map((field) => readProviderErrorCode(holder[field])));
  return codes.find((code) => code !== undefined && code !== 'other') ?? standardCode;
}
