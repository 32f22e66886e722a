import { RelayError } from '../errors.ts';
import { parseJsonObject } from '../oauth/json.ts';
import type { Provider } from '../providers/provider.ts';
import type { ObserveCall } from './call.ts';
import type { UpstreamClient } from './client.ts';
import type { UpstreamRequest } from './messages.ts';

/** Seconds. */
const longestRetryAfter = 3600;

/**
 * Asks the provider for the record of the token's user.
 *
 * @param clientGone cancels the lookup
 * @returns the provider's JSON object, byte for byte
 * @throws {RelayError} `token_invalid` if the provider itself says so, a `lookup_…` failure for every other
 *   status but 200, `user_record_signed` if its 200 is a JWT, `provider_answer_unusable` if its 200 is not a
 *   JSON object, or why the call itself failed
 */
export async function lookUpUser(
  client: UpstreamClient,
  provider: Pick<Provider, 'userUrl' | 'requestHeaders' | 'userRejectedWhen'>,
  accessToken: string,
  observe: ObserveCall,
  clientGone?: AbortSignal,
): Promise<Uint8Array> {
  const request = userRequest(provider, accessToken);
  const { status, headers, body } = await client.call(
    clientGone ? { ...request, signal: clientGone } : request,
    observe,
  );
  if (status !== 200) throw refusal(status, headers['retry-after']);
  if (isJwt(headers['content-type'])) throw new RelayError('user_record_signed');
  const record = parseJsonObject(body);
  if (record === undefined) throw new RelayError('provider_answer_unusable');
  const { userRejectedWhen: rejected } = provider;
  if (rejected && record[rejected.field] === rejected.equals) throw new RelayError('token_invalid');
  return body;
}

function refusal(status: number, retryAfter: string | undefined): RelayError {
  if (status === 401) return new RelayError('token_invalid');
  if (status === 403) return new RelayError('lookup_forbidden');
  if (status !== 429 && status !== 503) return new RelayError('lookup_failed');
  const isNumber = retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter);
  const seconds = Math.min(Math.max(Number(retryAfter), 1), longestRetryAfter);
  const headers = isNumber ? { 'Retry-After': String(seconds) } : {};
  return new RelayError('lookup_postponed', { headers });
}

/** Whether the record is signed or encrypted. @see OpenID Connect Core 1.0 §5.3.2 */
export function isJwt(contentType = ''): boolean {
  return /^\s*application\/jwt\s*(;|$)/i.test(contentType);
}

/** Builds the user lookup. @see RFC 6750 §2.1 */
export function userRequest(
  { userUrl, requestHeaders }: Pick<Provider, 'userUrl' | 'requestHeaders'>,
  accessToken: string,
): UpstreamRequest {
  const headers = { ...requestHeaders, authorization: `Bearer ${accessToken}` };
  return { endpoint: 'user', method: 'GET', url: userUrl, headers };
}
