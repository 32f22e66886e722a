import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import {
  failureForCode,
  failuresByMessage,
  type ProviderErrorCode,
  refusalStatuses,
  temporaryWords,
  wrongGrantDescriptions,
} from '../providers/error-codes.ts';
import { isObject, type JsonObject } from './json.ts';
import { anyAnswer, findErrorCode, isSuccess, parseTokenAnswer } from './token-response-format.ts';

export type GrantType = 'authorization_code' | 'refresh_token';

const tooManyRequests = 429;

/** Matches descriptions of a wrong redirect URI. A description that names other causes too is no proof. */
const namesRedirectUri = /\bredirect[ _]ur[il]\b/i;
const namesOtherCauses = /\bcode\b|expired/i;

/**
 * Explains why an answer of the token endpoint contains no token.
 *
 * For a code, the failure is
 * - `code_refused`, `client_refused`, `redirect_uri_refused` or `token_endpoint_failed`, if the answer says so;
 * - else `token_missing` after a successful status, and `token_refused` after any other.
 *
 * For a refresh token, the failure is
 * - `client_refused`, `token_endpoint_failed` or `scope_refused`, if the answer says so;
 * - else `token_missing` after a successful status without an error;
 * - else `refresh_refused` if the provider refused the token, and `token_endpoint_failed` if something before it did.
 *
 * @param rule which answers may contain a token
 * @see RFC 6749 §5.2
 */
export function explainMissingToken(
  { status, body }: { readonly status: number; readonly body: Uint8Array },
  grant: GrantType = 'authorization_code',
  rule = anyAnswer,
): RelayError {
  const answer = parseTokenAnswer(body);
  const providerError = answer && findErrorCode(answer);
  const hasFailed = status >= 500 || status === tooManyRequests;
  const meaning = hasFailed ? 'token_endpoint_failed' : interpretError(providerError, answer ?? {});
  if (grant === 'refresh_token') {
    const code = interpretRefreshError(status, meaning, providerError, answer);
    return new RelayError(code, { detail: refreshDetails[code], providerError });
  }
  if (!rule.isAnswer(status)) {
    const detail = meaning === undefined && isSuccess(status) ? detailForStatus(status) : undefined;
    return new RelayError(meaning ?? 'token_refused', { detail, providerError });
  }
  if (meaning === undefined) {
    const hasTokenInForm = answer?.['access_token'] !== undefined && rule.parse(body) === undefined;
    return new RelayError('token_missing', { detail: hasTokenInForm ? detailForForm : undefined, providerError });
  }
  // GitHub and Slack refuse with status 200.
  const { detail } = new RelayError(meaning);
  return new RelayError(meaning, {
    detail: detail.replace('Token retrieval failed', 'The access token is empty'),
    providerError,
  });
}

/** The detail for a status of success other than 200, which the contract does not accept. */
const detailForStatus = (status: number) =>
  `Token retrieval failed: the provider answered with status ${status}, and with flags alone only 200 counts. The operator can describe the provider in a configuration file, which makes any 2xx count.`;

/** The detail for a form, which the contract does not accept. */
const detailForForm =
  'The access token is empty: the provider answered with a form, and with flags alone only JSON counts. The operator can describe the provider in a configuration file, which makes a form count.';

/** Finds the failure that the fields of an error mean. @returns undefined for an unknown error */
function interpretError(
  code: ProviderErrorCode | undefined,
  { error_description: description, message }: JsonObject,
): FailureCode | undefined {
  if (code === undefined) return failuresByMessage.get(message);
  const text = typeof description === 'string' ? description : '';
  if (namesRedirectUri.test(text) && !namesOtherCauses.test(text)) return 'redirect_uri_refused';
  if (code === 'unauthorized_client' && wrongGrantDescriptions.has(text)) return 'code_refused';
  const meaning = failureForCode(code);
  // No person is asked in a token request, so `access_denied` cannot mean a person's refusal.
  return meaning && meaning !== 'access_denied' ? meaning : failuresByMessage.get(message);
}

/** The fields that explain why an answer with a status of success has no token. With any of them, it is a refusal. */
const reasonFields = ['error', 'errors', 'message', 'msg', 'errmsg'];

/** The fields in which providers say, in a word or a sentence, that an error is temporary. */
const wordFields = ['error', 'error_description', 'message', 'msg', 'errmsg', 'errorType', 'code', 'type', '__type'];

/** Whether an error without a known code says that a later attempt may succeed. */
function isTemporary(answer: JsonObject): boolean {
  const { error, errors } = answer;
  const holders = [answer, error, Array.isArray(errors) ? errors[0] : undefined].filter(isObject);
  return holders.some((holder) =>
    wordFields.some((field) => {
      const value = Object.hasOwn(holder, field) ? holder[field] : undefined;
      return typeof value === 'string' && temporaryWords.test(value);
    }),
  );
}

/** Returns the failure that a failed refresh means. Only `refresh_refused` ends the login. */
function interpretRefreshError(
  status: number,
  meaning: FailureCode | undefined,
  code: ProviderErrorCode | undefined,
  answer: JsonObject | undefined,
): FailureCode {
  if (meaning === 'client_refused' || meaning === 'token_endpoint_failed') return meaning;
  if (code === 'invalid_scope') return 'scope_refused';
  const hasKnownCode = code !== undefined && code !== 'other';
  if (!hasKnownCode && answer !== undefined && isTemporary(answer)) return 'token_endpoint_failed';
  if (isSuccess(status)) {
    const hasReason = reasonFields.some((field) => answer?.[field] !== undefined && answer[field] !== null);
    return code !== undefined || hasReason ? 'refresh_refused' : 'token_missing';
  }
  // Neither a firewall nor a rate limit may end the login. GitHub's rate limit is a 403 with a message.
  const isRefusal = refusalStatuses.has(status) ? answer !== undefined : hasKnownCode;
  return isRefusal ? 'refresh_refused' : 'token_endpoint_failed';
}

/** Details for a refresh. The usual details would ask the person to log in. */
const refreshDetails: Readonly<Partial<Record<FailureCode, string>>> = {
  scope_refused: 'The provider does not renew the login for this scope.',
  token_endpoint_failed: 'The provider reports an internal problem. Try again in a moment.',
  token_missing: 'The provider answered the refresh without a usable token. Try again in a moment.',
};
