import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import {
  isStillGranted,
  nextRefreshToken,
  type RefreshTokenContent,
} from '../grants/refresh-tokens.ts';
import { refreshScope } from '../oauth/scope.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { renew } from './admission.ts';
import { type EndpointRequest, expectResource, proofOf, required } from './front-end-endpoint.ts';
import { ownerOf, refreshPolicyAt, withRefreshToken } from './granting.ts';

/**
 * `grant_type=refresh_token`: renews the access token of a login. If the provider gave no refresh token,
 * the front end gets its access token again, without a call.
 *
 * @see RFC 6749 §6, RFC 9449 §5
 */
export async function refreshLogin(request: EndpointRequest): Promise<TokenResponse> {
  const { ctx, frontEnd, parameters, registration, now } = request;
  const { generations, refreshes, refreshTokens } = request.grants;
  const policy = refreshPolicyAt(request);
  if (policy === undefined) throw new RelayError('grant_unsupported');
  const owner = ownerOf(request);
  const login = refreshTokens.open(required(parameters, 'refresh_token'), owner);
  if (login === undefined || !isStillGranted(policy, login, now)) {
    throw new RelayError('grant_invalid');
  }
  // Before the memory of refreshes gives tokens without a call.
  const proved = await proofOf(request);
  if (login.thumbprint !== undefined && login.thumbprint !== proved) {
    throw new RelayError(proved === undefined ? 'proof_missing' : 'key_mismatch');
  }
  expectResource(request, login);
  const granted = login.scope ?? frontEnd.scope ?? registration.provider().scope;
  const part = refreshScope(parameters.scope, granted);
  const scope = registration.scopeWithAccess(part, granted, frontEnd);
  const { generation, providerToken, thumbprint } = login;
  const last = generation && (await generations.last(generation));
  /** Replaces the refresh token, if it is the last one of its login. */
  const replaced = async (next: RefreshTokenContent): Promise<RefreshTokenContent> => {
    if (last === undefined || last.number !== generation?.number) {
      return { ...next, generation: last };
    }
    // No refresh token of the login is good for longer.
    const lifetime = (login.loggedInAt + policy.lifetime) * 1000 - now();
    return { ...next, generation: await generations.replace(last, lifetime) };
  };
  const renewal = { ...owner, thumbprint, scope };
  const renewed = await renew(request, ctx, refreshes, providerToken, renewal);
  const token = renewed ?? { ...again(providerToken, now), scope: login.scope };
  const next = renewed ? nextRefreshToken(policy, login, renewed, now) : login;
  return withRefreshToken(request, token, await replaced(next));
}

/** The access token as it was granted, with the seconds that it has left. */
function again(
  { accessToken = '', tokenType, endsAt }: RefreshTokenContent['providerToken'],
  now: Clock,
) {
  const left = endsAt === undefined ? undefined : Math.floor(endsAt - now() / 1000);
  // The end may be between the opening of the refresh token and this moment.
  const expiresIn = left && Math.max(left, 0);
  return { accessToken, tokenType, expiresIn };
}
