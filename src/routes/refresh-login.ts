import type { Clock } from '../clock.ts';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import {
  nextRefreshTokenContent,
  type OpenedRefreshToken,
  type RefreshTokenContent,
} from '../grants/refresh-tokens.ts';
import type { Generation } from '../grants/rotation-and-reuse.ts';
import { narrowScopeOfRefresh } from '../oauth/scope.ts';
import { expectConsent, failAtTokenEndpoint, renewTokens, revokeSilently } from './admission.ts';
import { endAtDoors, endRefreshes } from './end-login.ts';
import { type EndpointRequest, requireParameter } from './front-end-endpoint.ts';
import { type Granted, grantToken } from './granted-token.ts';
import { type Grantee, ownerOf, refreshPolicyAt, requireGrantee } from './grantee.ts';

/**
 * `grant_type=refresh_token`: renews the access token of a login. If the provider gave no refresh token, the front end
 * gets the same access token again.
 *
 * @see RFC 6749 §6, RFC 9449 §5
 */
export async function refreshLogin(request: EndpointRequest): Promise<Granted> {
  const { now } = request;
  const opened = await openRefreshToken(request);
  const { content, policy } = opened;
  const grantee = requireGrantee(request, content);
  // Before the call, so that a stolen refresh token that was replaced reaches no provider.
  const newest = await requireUsableGeneration(request, opened, grantee);
  const { tokens: renewed, identity } = await renewAtProvider(request, opened, grantee);
  if (renewed !== undefined) expectConsent(request, content, renewed);
  const next = renewed ? nextRefreshTokenContent(policy, content, renewed, now) : content;
  const token = renewed ?? { ...sameAccessToken(content.providerToken, now), scope: content.scope };
  return grantToken(request, grantee, {
    token: { ...token, extraFields: next.extraFields },
    identity,
    refreshToken: { ...next, generation: await rotateIfNewest(request, opened, newest) },
  });
}

/**
 * Opens the refresh token in a request, verifies the key that it is bound to, and counts the refresh.
 *
 * @throws {RelayError} `grant_unsupported`, `grant_invalid`, `proof_missing`, `key_mismatch`, `rate_limited`, and as
 *   `verifyIfSent` does
 */
async function openRefreshToken(request: EndpointRequest): Promise<OpenedRefreshToken> {
  const { ctx, grants, issuer, parameters } = request;
  const policy = refreshPolicyAt(request);
  if (policy === undefined) throw new RelayError('grant_unsupported');
  const token = requireParameter(parameters, 'refresh_token');
  const opened = grants.refreshTokens.requireGranted(token, ownerOf(request), policy);
  const { login, thumbprint } = opened.content;
  await grants.proofs.verifyIfSent(ctx.req.headersDistinct['dpop'] ?? [], {
    method: ctx.method,
    url: `${issuer}/token`,
    nonces: grants.nonces,
    accept(proved) {
      if (thumbprint !== undefined && thumbprint !== proved) {
        throw new RelayError(proved === undefined ? 'proof_missing' : 'key_mismatch');
      }
      grants.refreshes.count(login);
    },
  });
  return opened;
}

/**
 * Requires that the login has not ended, and that its refresh token was not replaced more than a minute ago. Such a
 * token ends the login, because a thief may have it or its successor.
 *
 * @returns the newest generation; undefined if the relay does not rotate the token
 * @throws {RelayError} `grant_invalid` if the login has ended, or `refresh_reused`
 * @see RFC 9700 §4.14.2
 */
async function requireUsableGeneration(
  request: EndpointRequest,
  { content, left }: OpenedRefreshToken,
  { registration, resource }: Grantee,
): Promise<Generation | undefined> {
  const { generations, endedLogins } = request.grants;
  const { login, generation } = content;
  // The relay notes the end of a login for a resource only (`endAtDoors`).
  if (resource !== undefined && (await endedLogins.hasEnded(login))) throw new RelayError('grant_invalid');
  try {
    return generation && (await generations.requireUsable(login, generation));
  } catch (error) {
    if (isFailure(error, 'refresh_reused')) {
      await generations.end(login, left);
      await endAtDoors(request, content);
      revokeSilently(registration, await endRefreshes(request, content));
    }
    throw error;
  }
}

/** Renews the tokens at the provider. If the person may not log in any more, the login ends. */
async function renewAtProvider(request: EndpointRequest, { content, owner }: OpenedRefreshToken, grantee: Grantee) {
  const { ctx, grants, parameters } = request;
  const { login, thumbprint, providerToken } = content;
  const scope = scopeToRefresh(content, grantee, parameters.scope);
  try {
    return await renewTokens({
      destination: grantee,
      ctx,
      refreshes: grants.refreshes,
      tokens: providerToken,
      subjectId: content.subjectId,
      refresh: { owner, login, thumbprint, scope },
      address: grantee.chargedAddress,
    });
  } catch (error) {
    if (isFailure(error, 'access_ended')) await endAtDoors(request, content);
    failAtTokenEndpoint(error);
  }
}

/**
 * The scope that a refresh requests from the provider.
 *
 * @param asked the scope that the front end requests
 * @returns undefined to renew the whole scope, which contains the words that the questions about the person need
 */
function scopeToRefresh(content: RefreshTokenContent, { registration, frontEnd, resource }: Grantee, asked?: string) {
  const granted = content.scope ?? frontEnd.scope ?? registration.provider.scope;
  // A client that requests more than the person saw is refused.
  const isLenient = frontEnd.kind === 'native' && !content.hasConsent;
  // The provider does not know the scope of a resource.
  const part = resource === undefined ? narrowScopeOfRefresh(asked, granted, isLenient) : undefined;
  return registration.scopeWithAccess(part, granted, frontEnd);
}

/**
 * Rotates the refresh token, if it is the newest of its login. An older token within its grace gets the newest
 * generation.
 *
 * @returns the generation of the next refresh token; undefined if the relay does not rotate the token
 */
async function rotateIfNewest(
  { grants }: EndpointRequest,
  { content, left }: OpenedRefreshToken,
  newest: Generation | undefined,
): Promise<Generation | undefined> {
  const isNewest = newest !== undefined && newest.number === content.generation?.number;
  return isNewest ? await grants.generations.rotate(content.login, newest, left) : newest;
}

/** The access token that the front end already has, with the seconds until it ends. */
function sameAccessToken({ accessToken = '', tokenType, endsAt }: RefreshTokenContent['providerToken'], now: Clock) {
  const left = endsAt === undefined ? undefined : Math.floor(endsAt - now() / 1000);
  // The access token may have ended since the refresh token was opened, so prevent a negative time.
  const expiresIn = left && Math.max(left, 0);
  return { accessToken, tokenType, expiresIn };
}
