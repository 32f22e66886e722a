import { RelayError } from '../failures/relay-error.ts';
import type { RegisteredProvider } from '../oauth/client-authentication.ts';
import { isObject, parseJsonObject } from '../oauth/json.ts';
import { buildRevocationRequest, parseRevocationResponse, type RevocableTokens } from '../oauth/revocation.ts';
import { buildTokenRequest, type CodeGrant, type RefreshGrant } from '../oauth/token-request.ts';
import { parseTokenResponse } from '../oauth/token-response.ts';
import { anyAnswer, isOk, isSuccess } from '../oauth/token-response-format.ts';
import type { LookupRefusal, Provider } from '../providers/provider.ts';
import type { UpstreamClient } from './client.ts';
import type { ObserveCall, StreamedRequest, UpstreamRequest, UpstreamResponse } from './messages.ts';

export type ProviderEndpoints = ReturnType<typeof createProviderEndpoints>;

/** Seconds. A provider cannot make clients wait longer. */
const longestRetryAfter = 3600;

/** Creates the calls to a provider's endpoints. Each call throws why it failed. */
export function createProviderEndpoints(client: UpstreamClient, provider: RegisteredProvider) {
  return {
    /**
     * Exchanges an authorization code or a refresh token for an access token.
     *
     * @param rule which answers may contain a token
     * @returns a response without a refresh token if the given one stays valid
     * @throws {RelayError} why there is no token; `refresh_refused` if the refresh token is not valid any more
     * @see RFC 6749 §4.1.3 and §6
     */
    async requestToken(grant: CodeGrant | RefreshGrant, observe: ObserveCall, rule = anyAnswer) {
      const request = { endpoint: 'token', ...buildTokenRequest(provider, grant), needsBody: rule.isAnswer } as const;
      const type = 'refreshToken' in grant ? 'refresh_token' : 'authorization_code';
      return parseTokenResponse(await client.call(request, observe), provider, type, rule);
    },
    /**
     * Revokes the refresh token of a login, or its access token if there is no refresh token. Does nothing if the
     * provider cannot revoke it.
     *
     * @throws {RelayError} `token_invalid` if the provider does not know the token, `client_refused`, or
     *   `provider_answer_unusable` if the token may still be valid
     * @see RFC 7009
     */
    async revokeToken(tokens: RevocableTokens, observe: ObserveCall): Promise<void> {
      const { revocation } = provider;
      const request = buildRevocationRequest(provider, tokens);
      if (revocation === undefined || request === undefined) return;
      const answer = await client.call({ endpoint: 'revocation', ...request }, observe);
      parseRevocationResponse(answer, revocation.request);
    },
    /**
     * Requests the record of the token's user.
     *
     * @param purpose `user` if the record is for the user, `access` if it decides who may log in
     * @returns the provider's JSON object, parsed and byte for byte
     * @throws {RelayError} `token_invalid` if the provider says so, a `lookup_…` failure for every other status but 200
     *   (after a POST: any 2xx), `user_record_signed` if the answer is a JWT, or `provider_answer_unusable` if it is
     *   not a JSON object
     */
    async lookUpUser(
      accessToken: string,
      observe: ObserveCall,
      signal?: AbortSignal,
      purpose: 'user' | 'access' = 'user',
    ) {
      const { userUrl } = provider;
      if (userUrl === undefined) throw new RelayError('user_endpoint_missing');
      const isAnswer = userAnswerRule(provider);
      const request = buildUserRequest({ ...provider, userUrl }, accessToken);
      const response = await client.call({ ...request, endpoint: purpose, needsBody: isAnswer, signal }, observe);
      const { status, headers, body } = response;
      if (!isAnswer(status)) {
        // A lookup for the user fails as the contract says.
        const refusal = purpose === 'access' ? findRefusal(response, provider.lookupRefusals) : undefined;
        throw refusal ?? lookupFailure(status, headers['retry-after']);
      }
      if (isJwt(headers['content-type'])) throw new RelayError('user_record_signed');
      const record = parseJsonObject(body);
      if (record === undefined) throw new RelayError('provider_answer_unusable');
      const { userRejectedWhen } = provider;
      const isRejected = userRejectedWhen && record[userRejectedWhen.field] === userRejectedWhen.equals;
      if (isRejected) throw new RelayError('token_invalid');
      return { record, body };
    },
    /**
     * Asks another endpoint whether a person may log in.
     *
     * @param path relative to the user URL
     * @returns an answer with status 200, 204 or 404
     * @throws {RelayError} what the provider demands from the person or an administrator, or a `lookup_…` failure
     */
    async askAccess(
      accessToken: string,
      path: string,
      observe: ObserveCall,
      signal: AbortSignal,
    ): Promise<UpstreamResponse> {
      const { userUrl, requestHeaders } = provider;
      const url = new URL(path, userUrl).href;
      const request = buildUserRequest({ userUrl: url, requestHeaders }, accessToken);
      const answer = await client.call({ ...request, endpoint: 'access', signal }, observe);
      const { status, headers } = answer;
      if (status === 200 || status === 204 || status === 404) return answer;
      const refusal = findRefusal(answer, provider.lookupRefusals);
      if (refusal !== undefined) throw refusal;
      // A 401 here may refuse this request, and not the token.
      throw status === 401 ? new RelayError('lookup_failed') : lookupFailure(status, headers['retry-after']);
    },
    /** Begins a streamed call to the provider's API. @throws {RelayError} `overloaded` */
    callApi(request: StreamedRequest, observe: ObserveCall) {
      const headers = { ...provider.requestHeaders, ...request.headers };
      return client.stream({ ...request, headers }, observe);
    },
  };
}

/** The failure for a status that is no answer to a lookup. */
function lookupFailure(status: number, retryAfter: string | undefined): RelayError {
  if (status === 401) return new RelayError('token_invalid');
  if (status === 403) return new RelayError('lookup_forbidden');
  if (status !== 429 && status !== 503) return new RelayError('lookup_failed');
  const isNumber = retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter);
  if (!isNumber) return new RelayError('lookup_postponed');
  const seconds = Math.min(Math.max(Number(retryAfter), 1), longestRetryAfter);
  return new RelayError('lookup_postponed', { headers: { 'Retry-After': String(seconds) } });
}

/** Returns which statuses of the user lookup are answers. The contract uses GET, and accepts only 200. */
export const userAnswerRule = ({ userRequest: method }: Pick<Provider, 'userRequest'>) =>
  method === 'post' ? isSuccess : isOk;

/** Whether a user record is signed or encrypted, and not plain JSON. @see OpenID Connect Core 1.0 §5.3.2 */
export function isJwt(contentType = ''): boolean {
  return /^\s*application\/jwt\s*(;|$)/i.test(contentType);
}

/** Builds the user lookup. @see RFC 6750 §2.1 */
export function buildUserRequest(
  {
    userUrl,
    userRequest: method,
    userBody,
    requestHeaders,
  }: Pick<Provider, 'userRequest' | 'userBody' | 'requestHeaders'> & { readonly userUrl: string },
  accessToken: string,
): UpstreamRequest {
  const headers = { ...requestHeaders, authorization: `Bearer ${accessToken}` };
  if (method !== 'post') return { endpoint: 'user', method: 'GET', url: userUrl, headers };
  if (userBody === undefined) return { endpoint: 'user', method: 'POST', url: userUrl, headers };
  const typed = { ...headers, 'content-type': 'application/json' };
  return { endpoint: 'user', method: 'POST', url: userUrl, headers: typed, body: userBody };
}

/**
 * Finds out whether the provider refuses because the person or an administrator has to do something first. No text or
 * address from the response is passed on, because a forged one could lead people to a false login page.
 */
function findRefusal(
  { status, headers, body }: UpstreamResponse,
  refusals: readonly LookupRefusal[] = [],
): RelayError | undefined {
  if (status !== 403 || refusals.length === 0) return undefined;
  const { message, error } = parseJsonObject(body) ?? {};
  const texts = [message, isObject(error) ? error['code'] : undefined];
  const refusal = refusals.find(({ header, text: expected }) => {
    const candidates = header === undefined ? texts : [headers[header]];
    return candidates.some((candidate) => typeof candidate === 'string' && candidate.includes(expected));
  });
  return refusal && new RelayError(refusal.means);
}
