import { rulesId } from '../access/allow.ts';
import type { Identity } from '../access/identity.ts';
import { secondsOf } from '../clock.ts';
import type { Place } from '../front-ends/front-ends.ts';
import { firstRefreshToken, newLoginId, type Owner, type RefreshTokenContent } from '../grants/refresh-tokens.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { actsAtProvider, longestLifetime, type Resource } from '../resources/resource.ts';

/** Where a person logs in, and what for. */
export interface Grantee extends Place {
  /** Undefined: the provider's API. */
  readonly resource?: Resource | undefined;
  /** Who the person is. Undefined: the login is for the provider's API. */
  readonly identity?: Identity | undefined;
}

/** What a front end gets. */
export interface Granted extends TokenResponse {
  /** What the resource is told of the person. */
  readonly identity?: Identity | undefined;
}

/** Whose codes and refresh tokens a front end may use. */
export function ownerOf({ registration, frontEnd }: Place): Owner {
  return [registration.audience, frontEnd.audience];
}

/**
 * Grants a token, and a refresh token unless it is over already or too long. The provider's refresh token stays in the
 * relay. So does its access token, if the login is for a resource.
 *
 * @param content what the refresh token holds; undefined: the front end gets none
 */
export function withRefreshToken(
  grantee: Grantee,
  token: Omit<TokenResponse, 'refreshToken' | 'refreshExpiresIn'>,
  content: RefreshTokenContent | undefined,
): Granted {
  const { grants, now, frontEnd, resource } = grantee;
  // `resourceOfLogin` has refused it: a front end with resources never gets the provider's token.
  if (resource === undefined && frontEnd.resources.length > 0) throw new Error('no resource');
  const granted = resource === undefined ? token : tokenFor(resource, grantee, token, content);
  const left = Math.floor((content?.endsAt ?? 0) - now() / 1000);
  const refreshToken = content && left > 0 ? grants.refreshTokens.issue(content, ownerOf(grantee)) : undefined;
  const refreshExpiresIn = refreshToken === undefined ? undefined : left;
  return { ...granted, refreshToken, refreshExpiresIn };
}

/** The relay's access token for a resource. It ends with its login. @throws as `issue` of `createAccessTokens` */
function tokenFor(
  resource: Resource,
  { identity, frontEnd, grants, now, registration }: Grantee,
  { accessToken }: Pick<TokenResponse, 'accessToken'>,
  content: RefreshTokenContent | undefined,
) {
  if (identity === undefined) throw new Error('nobody asked who it is');
  const iat = secondsOf(now);
  const loginEnd = content && content.loggedInAt + (frontEnd.refreshPolicy?.lifetime ?? 0);
  const exp = Math.min(iat + resource.lifetime, loginEnd ?? Number.POSITIVE_INFINITY);
  const issued = {
    frontEnd: frontEnd.name,
    client: frontEnd.client,
    audience: frontEnd.audience,
    login: content?.login ?? newLoginId(),
    ...identity,
    rules: rulesId(registration.allowsAt(frontEnd, resource), registration.provider, resource.identity),
    providerToken: actsAtProvider(resource) ? accessToken : undefined,
    iat,
    exp,
  };
  return {
    accessToken: grants.accessTokens.issue(issued, resource),
    tokenType: 'Bearer',
    expiresIn: exp - iat,
    scope: resource.scope,
    identity,
    // What the provider gives besides its token stays in the relay with it.
    extraFields: undefined,
  };
}

/**
 * Grants the token of a new login, with the first refresh token if the front end gets one.
 *
 * @param thumbprint that of the key that the front end proves, if it proves one
 * @param terms what the refresh token holds besides, of the code of the login
 */
export function firstGrant(
  grantee: Grantee,
  token: TokenResponse,
  thumbprint?: string,
  terms: Pick<RefreshTokenContent, 'redirectUri' | 'ownResource' | 'providerResource' | 'hasConsent' | 'address'> = {},
): Granted {
  const policy = refreshPolicyAt(grantee);
  const isForProvider = grantee.resource === undefined;
  const kept = isForProvider ? token : { ...token, extraFields: undefined };
  const content = policy && firstRefreshToken(policy, kept, thumbprint, grantee.now);
  return withRefreshToken(grantee, token, content && { ...content, ...terms });
}

/** The policy for the refresh tokens of a front end at a provider. Undefined: it gets none. */
export function refreshPolicyAt({ registration, frontEnd: { refreshPolicy } }: Place) {
  // A provider that revokes only access tokens could revoke nothing later.
  const keepsAccessToken = registration.provider.revocation?.takes === 'access_token';
  return refreshPolicy && { ...refreshPolicy, keepsAccessToken };
}

/** Ends a login if it is for a resource: no door opens to its access tokens any more, and none is refreshed. */
export async function endAtDoors(
  { grants, frontEnd }: Pick<Place, 'grants' | 'frontEnd'>,
  { login, ownResource }: Pick<RefreshTokenContent, 'login' | 'ownResource'>,
): Promise<void> {
  if (ownResource === undefined) return;
  // Also if a reload has removed the resource: another one may bring it back.
  const longest = Math.max(longestLifetime, frontEnd.refreshPolicy?.lifetime ?? 0);
  await grants.endedLogins.end(login, longest * 1000);
}
