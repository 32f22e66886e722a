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
import { failAtTokenEndpoint, renewTokens, revokeSilently } from './admission.ts';
import {
  countedAddress,
  type EndpointRequest,
  expectConsent,
  expectResource,
  expectScopeShown,
  proofOf,
  required,
} from './front-end-endpoint.ts';
import { endAtDoors, type Granted, type Grantee, ownerOf, refreshPolicyAt, withRefreshToken } from './granted-token.ts';

/**
 * `grant_type=refresh_token`: renews the access token of a login. If the provider gave no refresh token,
 * the front end gets its access token again, without a call.
 *
 * @see RFC 6749 §6, RFC 9449 §5
 */
export async function refreshLogin(request: EndpointRequest): Promise<Granted> {
  const policy = refreshPolicyAt(request);
  if (policy === undefined) throw new RelayError('grant_unsupported');
  const content = await openRefreshToken(request, policy);
  const grantee = await granteeOf(request, content);
  const { now } = request;
  const lifetime = timeLeft(policy, content, now);
  // Before the provider is asked: a stolen refresh token gets nothing.
  const newest = await newestGeneration(grantee, content, lifetime);
  const { tokens: renewed, identity } = await renewAtProvider(grantee, content);
  if (renewed !== undefined) expectConsent(request, content, renewed);
  const next = renewed ? nextRefreshToken(policy, content, renewed, now) : content;
  const granted = renewed ?? { ...grantedToken(content.providerToken, now), scope: content.scope };
  const token = { ...granted, extraFields: next.extraFields };
  const generation = await nextGeneration(grantee, content, newest, lifetime);
  return withRefreshToken({ ...grantee, identity }, token, { ...next, generation });
}

/** What the refresh token in a request holds, for a front end that has proved its key. */
async function openRefreshToken(request: EndpointRequest, policy: RefreshPolicy) {
  const { grants, parameters, now } = request;
  const token = required(parameters, 'refresh_token');
  const content = grants.refreshTokens.open(token, ownerOf(request));
  if (content === undefined || !isStillGranted(policy, content, now)) {
    throw new RelayError('grant_invalid');
  }
  const proved = await proofOf(request, 'refresh token');
  if (content.thumbprint !== undefined && content.thumbprint !== proved) {
    throw new RelayError(proved === undefined ? 'proof_missing' : 'key_mismatch');
  }
  expectResource(request, content);
  return content;
}

/**
 * The request with the resource of its login.
 *
 * @throws {RelayError} `resource_refused`, or `grant_invalid` if the login has ended for the resource, or has not shown enough
 */
async function granteeOf(request: EndpointRequest, content: RefreshTokenContent) {
  const { ctx, frontEnd, grants, parameters } = request;
  const resource = resourceOfLogin(frontEnd, content, parameters.resource);
  expectScopeShown(frontEnd, resource, content);
  ctx.state.resource = resource?.name;
  const isOver = resource && (await grants.endedLogins.hasEnded(content.login));
  if (isOver) throw new RelayError('grant_invalid');
  return { ...request, resource };
}

/** Renews the tokens at the provider, or ends the login of a person who may not log in any more. */
async function renewAtProvider(grantee: Grantee & EndpointRequest, content: RefreshTokenContent) {
  const { ctx, frontEnd, grants, parameters, registration, resource } = grantee;
  const granted = content.scope ?? frontEnd.scope ?? registration.provider.scope;
  // The scope of a resource says nothing to the provider.
  // A client that asks for more than the person saw is refused.
  const isLenient = frontEnd.kind === 'native' && !content.hasConsent;
  const part = resource === undefined ? refreshScope(parameters.scope, granted, isLenient) : undefined;
  const scope = registration.scopeWithAccess(part, granted, frontEnd);
  const { login, thumbprint, providerToken } = content;
  try {
    return await renewTokens({
      place: grantee,
      ctx,
      refreshes: grants.refreshes,
      tokens: providerToken,
      refresh: { owner: ownerOf(grantee), login, thumbprint, scope },
      address: countedAddress(grantee, content),
    });
  } catch (error) {
    if (isFailure(error, 'access_ended')) await endAtDoors(grantee, content);
    failAtTokenEndpoint(error);
  }
}

/**
 * The newest generation of a login, if the relay rotates its refresh tokens. A refresh token that was rotated more than
 * a minute ago ends the login: a thief has it or its successor.
 *
 * @param lifetime milliseconds that the login has left
 * @see RFC 9700 §4.14.2
 */
async function newestGeneration(
  place: Place,
  content: RefreshTokenContent,
  lifetime: number,
): Promise<Generation | undefined> {
  const { login, generation } = content;
  const { generations } = place.grants;
  try {
    return generation && (await generations.newest(login, generation));
  } catch (error) {
    if (isFailure(error, 'refresh_reused')) {
      await generations.end(login, lifetime);
      await endAtDoors(place, content);
      revokeSilently(place.registration, await endRefreshes(place, content));
    }
    throw error;
  }
}

/** Rotates only the newest refresh token of a login. One that is in its grace gets the newest generation. */
async function nextGeneration(
  { grants }: Place,
  { login, generation }: RefreshTokenContent,
  newest: Generation | undefined,
  lifetime: number,
): Promise<Generation | undefined> {
  const isNewest = newest !== undefined && newest.number === generation?.number;
  return isNewest ? await grants.generations.rotate(login, newest, lifetime) : newest;
}

/** Ends the refreshes of a login. Gives its newest tokens to revoke: another tab may have refreshed it a moment ago. */
export async function endRefreshes(
  place: Place,
  { login, thumbprint, providerToken }: RefreshTokenContent,
): Promise<RevocableTokens> {
  const { refreshToken } = providerToken;
  if (refreshToken === undefined) return providerToken;
  const token = { owner: ownerOf(place), login, thumbprint, refreshToken };
  const newer = await place.grants.refreshes.endAndTakeNewest(token);
  return newer ?? providerToken;
}

/** The access token that the front end has got already, with the seconds that it has left. */
function grantedToken({ accessToken = '', tokenType, endsAt }: RefreshTokenContent['providerToken'], now: Clock) {
  const left = endsAt === undefined ? undefined : Math.floor(endsAt - now() / 1000);
  // The end may be between the opening of the refresh token and this moment.
  const expiresIn = left && Math.max(left, 0);
  return { accessToken, tokenType, expiresIn };
}
