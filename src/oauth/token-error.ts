import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import {
  failureMeantBy,
  messageMeanings,
  type ProviderErrorCode,
  passingWords,
  refusalStatuses,
  wrongGrants,
} from '../providers/refusals.ts';
import { isObject, type JsonObject } from './json.ts';
import { anyAnswer, errorCodeIn, isSuccess, parseTokenAnswer } from './token-answer.ts';

export type GrantType = 'authorization_code' | 'refresh_token';

const tooManyRequests = 429;

/** Matches descriptions of a wrong redirect URI. A description that names other causes too is no proof. */
const namesRedirectUri = /\bredirect[ _]ur[il]\b/i;
const namesOtherCauses = /\bcode\b|expired/i;

/**
 * Why an answer of the token endpoint contains no token.
 *
 * @param rule which answers may contain one
 * @returns for a code, `code_refused`, `client_refused`, `redirect_uri_refused` or `token_endpoint_failed`; otherwise
 *   `token_missing` for an answer and `token_refused` for another status. For a refresh token, `client_refused`,
 *   `token_endpoint_failed`, `scope_refused`, `token_missing` for an answer without an error, and otherwise
 *   `refresh_refused`
 * @see RFC 6749 §5.2
 */
export function tokenError(
  { status, body }: { readonly status: number; readonly body: Uint8Array },
  grant: GrantType = 'authorization_code',
  rule = anyAnswer,
): RelayError {
  const answer = parseTokenAnswer(body);
  const providerError = answer && errorCodeIn(answer);
  const hasFailed = status >= 500 || status === tooManyRequests;
  const meaning = hasFailed ? 'token_endpoint_failed' : meaningOf(providerError, answer ?? {});
  if (grant === 'refresh_token') {
    const code = meaningOfRefresh(status, meaning, providerError, answer);
    return new RelayError(code, { detail: refreshDetails[code], providerError });
  }
  if (!rule.isAnswer(status)) {
    const detail = meaning === undefined && isSuccess(status) ? otherStatus(status) : undefined;
    return new RelayError(meaning ?? 'token_refused', { detail, providerError });
  }
  if (meaning === undefined) {
    const isOtherForm = answer?.['access_token'] !== undefined && rule.parse(body) === undefined;
    return new RelayError('token_missing', { detail: isOtherForm ? otherForm : undefined, providerError });
  }
  // GitHub and Slack refuse with status 200.
  const { detail } = new RelayError(meaning);
  return new RelayError(meaning, {
    detail: detail.replace('Token retrieval failed', 'The access token is empty'),
    providerError,
  });
}

/** The contract accepts only 200. */
const otherStatus = (status: number) =>
  `Token retrieval failed: the provider answered with status ${status}, and with flags alone only 200 counts. The operator can describe the provider in a configuration file, which makes any 2xx count.`;

/** The contract accepts only JSON. */
const otherForm =
  'The access token is empty: the provider answered with a form, and with flags alone only JSON counts. The operator can describe the provider in a configuration file, which makes a form count.';

/** The meaning of an error's fields; undefined if it is not known. */
function meaningOf(
  code: ProviderErrorCode | undefined,
  { error_description: description, message }: JsonObject,
): FailureCode | undefined {
  if (code === undefined) return messageMeanings.get(message);
  const text = typeof description === 'string' ? description : '';
  if (namesRedirectUri.test(text) && !namesOtherCauses.test(text)) return 'redirect_uri_refused';
  if (code === 'unauthorized_client' && wrongGrants.has(text)) return 'code_refused';
  const meaning = failureMeantBy(code);
  // No person is asked in a token request, so `access_denied` cannot mean a person's refusal.
  return meaning && meaning !== 'access_denied' ? meaning : messageMeanings.get(message);
}

/** The fields that explain why an answer has no token. */
const reasonFields = ['error', 'errors', 'message', 'msg', 'errmsg'];

/** The same, as far as they are words for people. */
const wordFields = ['error', 'error_description', 'message', 'msg', 'errmsg', 'errorType', 'code', 'type', '__type'];

/** Whether an error without a known code says that a later attempt may succeed. */
function isPassing(answer: JsonObject): boolean {
  const { error, errors } = answer;
  const holders = [answer, error, Array.isArray(errors) ? errors[0] : undefined].filter(isObject);
  return holders.some((holder) =>
    wordFields.some((field) => {
      const value = Object.hasOwn(holder, field) ? holder[field] : undefined;
      return typeof value === 'string' && passingWords.test(value);
    }),
  );
}

/** The meaning of a failed refresh. Only a refusal ends the login. */
function meaningOfRefresh(
  status: number,
  meaning: FailureCode | undefined,
  code: ProviderErrorCode | undefined,
  answer: JsonObject | undefined,
): FailureCode {
  if (meaning === 'client_refused' || meaning === 'token_endpoint_failed') return meaning;
  if (code === 'invalid_scope') return 'scope_refused';
  const isNamed = code !== undefined && code !== 'other';
  if (!isNamed && answer !== undefined && isPassing(answer)) return 'token_endpoint_failed';
  if (isSuccess(status)) {
    const saysWhy = code !== undefined || reasonFields.some((field) => (answer?.[field] ?? undefined) !== undefined);
    return saysWhy ? 'refresh_refused' : 'token_missing';
  }
  // Neither a firewall nor a rate limit may end the login. GitHub's rate limit is a 403 with a message.
  const isRefusal = refusalStatuses.has(status) ? answer !== undefined : isNamed;
  return isRefusal ? 'refresh_refused' : 'token_endpoint_failed';
}

/** Details for a refresh, where "log in" would be wrong. */
const refreshDetails: Readonly<Partial<Record<FailureCode, string>>> = {
  scope_refused: 'The provider does not renew the login for this scope.',
  token_endpoint_failed: 'The provider reports an internal problem. Try again in a moment.',
  token_missing: 'The provider answered the refresh without a usable token. Try again in a moment.',
};
