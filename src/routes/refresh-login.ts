import type { Clock } from '../clock.ts';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Place } from '../front-ends/front-ends.ts';
import type { Generation } from '../grants/generations.ts';
import {
  isStillGranted,
  nextRefreshToken,
  type RefreshPolicy,
  type RefreshTokenContent,
  timeLeft,
} from '../grants/refresh-tokens.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { refreshScope } from '../oauth/scope.ts';
import { resourceOfLogin } from '../resources/resource.ts';
import { renewTokens, revokeSilently } from './admission.ts';
import {
  countedAddress,
  type EndpointRequest,
  expectConsent,
  expectResource,
  proofOf,
  required,
} from './front-end-endpoint.ts';
import {
  endAtDoors,
  type Granted,
  type Grantee,
  ownerOf,
  refreshPolicyAt,
  withRefreshToken,
} from './granted-token.ts';

/**
 * `grant_type=refresh_token`: renews the access token of a login. If the provider gave no refresh token,
 * the front end gets its access token again, without a call.
 *
 * @see RFC 6749 §6, RFC 9449 §5
 */
export async function refreshLogin(request: EndpointRequest): Promise<Granted> {
  const policy = refreshPolicyAt(request);
  if (policy === undefined) throw new RelayError('grant_unsupported');
  const login = await openLogin(request, policy);
  const grantee = await granteeOf(request, login);
  const { now, grants } = request;
  const lifetime = timeLeft(policy, login, now);
  const { generation } = login;
  const last = generation && (await lastGeneration(grantee, login, generation, lifetime));
  const { tokens: renewed, identity } = await renewLogin(grantee, login);
  if (renewed !== undefined) expectConsent(request, login, renewed);
  const token = renewed ?? { ...again(login.providerToken, now), scope: login.scope };
  const next = renewed ? nextRefreshToken(policy, login, renewed, now) : login;
  const isLast = last !== undefined && last.number === generation?.number;
  const replaced = isLast ? await grants.generations.rotate(login.login, last, lifetime) : last;
  return withRefreshToken({ ...grantee, identity }, token, { ...next, generation: replaced });
}

/** The login of the refresh token in a request, for a front end that has proved its key. */
async function openLogin(request: EndpointRequest, policy: RefreshPolicy) {
  const { grants, parameters, now } = request;
  const token = required(parameters, 'refresh_token');
  const login = grants.refreshTokens.open(token, ownerOf(request));
  if (login === undefined || !isStillGranted(policy, login, now)) {
    throw new RelayError('grant_invalid');
  }
  // Before the memory of refreshes gives tokens without a call.
  const proved = await proofOf(request, 'refresh token');
  if (login.thumbprint !== undefined && login.thumbprint !== proved) {
    throw new RelayError(proved === undefined ? 'proof_missing' : 'key_mismatch');
  }
  expectResource(request, login);
  return login;
}

type Refreshing = Grantee & EndpointRequest;

/**
 * The request with the resource of its login.
 *
 * @throws {RelayError} `resource_refused`, or `grant_invalid` if the login has ended for the resource
 */
async function granteeOf(request: EndpointRequest, login: RefreshTokenContent) {
  const { ctx, frontEnd, grants, parameters } = request;
  const resource = resourceOfLogin(frontEnd, login, parameters.resource);
  ctx.state.resource = resource?.name;
  const isOver = resource && (await grants.endedLogins.hasEnded(login.login));
  if (isOver) throw new RelayError('grant_invalid');
  return { ...request, resource };
}

/** Renews the tokens at the provider. Somebody who may not log in any more is at the end of the login. */
async function renewLogin(grantee: Refreshing, login: RefreshTokenContent) {
  const { ctx, frontEnd, grants, parameters, registration, resource } = grantee;
  const granted = login.scope ?? frontEnd.scope ?? registration.provider.scope;
  // The scope of a resource says nothing to the provider.
  const part = resource === undefined ? refreshScope(parameters.scope, granted) : undefined;
  const scope = registration.scopeWithAccess(part, granted, frontEnd);
  const { thumbprint, providerToken } = login;
  try {
    return await renewTokens({
      place: grantee,
      ctx,
      refreshes: grants.refreshes,
      tokens: providerToken,
      login: { owner: ownerOf(grantee), login: login.login, thumbprint, scope },
      address: countedAddress(grantee, login),
    });
  } catch (error) {
    if (isFailure(error, 'access_ended')) await endAtDoors(grantee, login);
    throw error;
  }
}

/**
 * The last generation of a login. If the one that comes was replaced more than a minute ago, a thief has it or the one
 * that replaced it: the login ends.
 *
 * @param lifetime milliseconds that the login has left
 * @see RFC 9700 §4.14.2
 */
async function lastGeneration(
  place: Grantee,
  login: RefreshTokenContent,
  given: Generation,
  lifetime: number,
): Promise<Generation> {
  const { generations } = place.grants;
  try {
    return await generations.newest(login.login, given);
  } catch (error) {
    if (isFailure(error, 'refresh_reused')) {
      await generations.end(login.login, lifetime);
      await endAtDoors(place, login);
      revokeSilently(place.registration, await endRefreshes(place, login));
    }
    throw error;
  }
}

/**
 * Ends the refreshes of a login. Gives its newest tokens, to be revoked: another tab may have refreshed it a moment ago.
 */
export async function endRefreshes(
  place: Place,
  { login, thumbprint, providerToken }: RefreshTokenContent,
): Promise<RevocableTokens> {
  const { refreshToken } = providerToken;
  if (refreshToken === undefined) return providerToken;
  const token = { owner: ownerOf(place), login, thumbprint, refreshToken };
  const ended = await place.grants.refreshes.end(token);
  return ended ?? providerToken;
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
