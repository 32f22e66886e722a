import { parseJsonObject } from '../oauth/json.ts';
import { tokenError } from '../oauth/token-error.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';

/**
 * What a provider refuses of a token request, as far as it tells. `credentials`: client identifier or
 * secret. `client`: these, the callback URL, or what the client may do.
 */
export type TokenRefusal =
  | 'code'
  | 'redirect_uri'
  | 'secret'
  | 'identifier'
  | 'credentials'
  | 'client'
  | 'unknown';

/** Codes that say more, or less, than `invalid_client` does: Slack's, Google's and RFC 6749's. */
const codes: Readonly<Record<string, TokenRefusal>> = {
  bad_client_secret: 'secret',
  invalid_client_id: 'identifier',
  deleted_client: 'identifier',
  disabled_client: 'identifier',
  unauthorized_client: 'client',
};

/** Gitea's, Twitch's and Google's. They are compared as a whole: others name several causes. */
const descriptions: Readonly<Record<string, TokenRefusal>> = {
  'invalid client secret': 'secret',
  'invalid client': 'identifier',
  'The OAuth client was not found.': 'identifier',
};

/** Reads the refusal of a token request with a made-up code. `code` means that the client is accepted. */
export function tokenRefusal(answer: UpstreamResponse): TokenRefusal {
  const { code, providerError } = tokenError(answer);
  if (code === 'code_refused') return 'code';
  if (code === 'redirect_uri_refused') return 'redirect_uri';
  const bare = answer.status === 401 && providerError === undefined;
  if (code !== 'client_refused' && !bare) return 'unknown';
  const { error, error_description, message } = parseJsonObject(answer.body) ?? {};
  const said = String(error_description ?? message);
  return descriptions[said] ?? codes[String(error)] ?? 'credentials';
}
