import type { ProviderAnswer } from '../upstream/client.ts';
import { isHtml, oauthError } from './answer.ts';

/** What the answer to a token request with a made-up code says of the client. */
export type TokenAnswerMeaning =
  /** The code alone is at fault: the client has been let in. */
  | 'code_unknown'
  | 'client_unknown'
  | 'client_refused'
  | 'redirect_uri_refused'
  | 'request_not_understood'
  | 'unclear';

type Rule = readonly [code: RegExp, description: RegExp, meaning: TokenAnswerMeaning];

const any = /^/;

/** RFC 6749's words, and what providers say in their place; the first rule that fits counts. */
const rules: readonly Rule[] = [
  // GitHub, Slack
  [/^(invalid_grant|bad_verification_code|invalid_code)$/, any, 'code_unknown'],
  [/redirect/, any, 'redirect_uri_refused'],
  [/^invalid_client_id$/, any, 'client_unknown'],
  [/^(incorrect_client_credentials|bad_client_secret)$/, any, 'client_refused'],
  // Gitea and its kin say unauthorized_client to everything, Microsoft to an unknown client.
  [/^unauthorized_client$/, /redirect/, 'redirect_uri_refused'],
  [/^unauthorized_client$/, /^client is not authorized$/, 'code_unknown'],
  [/^(unauthorized|invalid)_client$/, /secret|credential/, 'client_refused'],
  [/^(unauthorized|invalid)_client$/, /unknown|not found|cannot load/, 'client_unknown'],
  [/^(unauthorized|invalid)_client$/, any, 'client_refused'],
  // LinkedIn names everything that may be wrong at once.
  [/^invalid_request$/, /authorization code/, 'unclear'],
  [/^(invalid_request|unsupported_grant_type)$/, any, 'request_not_understood'],
  // Twitch has no codes.
  [/^$/, /authorization code/, 'code_unknown'],
  [/^$/, /client secret/, 'client_refused'],
  [/^$/, /invalid client/, 'client_unknown'],
];

/** Reads what an answer says of the client. @see RFC 6749 §5.2 */
export function meaningOf(answer: ProviderAnswer): TokenAnswerMeaning {
  const { code, description } = oauthError(answer);
  const rule = rules.find((rule) => rule[0].test(code) && rule[1].test(description));
  if (rule !== undefined) return rule[2];
  return answer.status === 401 && code === '' && !isHtml(answer) ? 'client_refused' : 'unclear';
}
