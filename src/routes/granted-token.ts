import { hashRules } from '../access/allow.ts';
import type { Identity } from '../access/identity.ts';
import { nowInSeconds } from '../clock.ts';
import type { Place } from '../front-ends/front-ends.ts';
import { createLoginId, firstRefreshTokenContent, type RefreshTokenContent } from '../grants/refresh-tokens.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { actsAtProvider, type Resource } from '../resources/resource.ts';
import type { EndpointRequest } from './front-end-endpoint.ts';
import { type Grantee, ownerOf, refreshPolicyAt } from './grantee.ts';

export interface Granted extends TokenResponse {
  /** Set if the token is for a resource. */
  readonly identity?: Identity | undefined;
}

type GrantContext = Pick<Place, 'grants' | 'now'> & Pick<EndpointRequest, 'renews'>;

/**
 * The provider's token, the identity of the person, and the content of the refresh token that the front end may get.
 */
interface Grant {
  readonly token: Omit<TokenResponse, 'refreshToken' | 'refreshExpiresIn'>;
  /** Undefined if the login is for the provider's API. */
  readonly identity: Identity | undefined;
  readonly refreshToken: RefreshTokenContent | undefined;
}

/**
 * Grants a token, and a refresh token unless that would already be expired or is too long. The provider's refresh token
 * never leaves the relay. If the login is for a resource, neither does the provider's access token.
 */
export function grantToken(context: GrantContext, grantee: Grantee, grant: Grant): Granted {
  const { grants, now } = context;
  const { frontEnd, resource } = grantee;
  const { token, refreshToken: content } = grant;
  // `requireGrantee` has refused this already: a front end with resources never gets the provider's token.
  if (resource === undefined && frontEnd.resources.length > 0) throw new Error('no resource');
  const granted = resource === undefined ? token : issueForResource(resource, context, grantee, grant);
  const left = Math.floor((content?.endsAt ?? 0) - now() / 1000);
  const refreshToken = content && left > 0 ? grants.refreshTokens.issue(content, ownerOf(grantee)) : undefined;
  const refreshExpiresIn = refreshToken === undefined ? undefined : left;
  return { ...granted, refreshToken, refreshExpiresIn };
}

/** Issues an access token for a resource, which ends with its login at the latest. */
function issueForResource(
  resource: Resource,
  { grants, now, renews }: GrantContext,
  { frontEnd, registration }: Grantee,
  { token: { accessToken }, identity, refreshToken }: Grant,
) {
  if (identity === undefined) throw new Error('nobody asked who it is');
  const iat = nowInSeconds(now);
  const loginEnd = refreshToken && refreshToken.loggedInAt + (frontEnd.refreshPolicy?.lifetime ?? 0);
  const exp = Math.min(iat + resource.lifetime, loginEnd ?? Number.POSITIVE_INFINITY);
  // A renewal keeps the id of the login, so that a logout also ends copies of the cookie from before.
  const renewedLogin = renews?.sub === identity.sub ? renews.login : undefined;
  const content = {
    frontEnd: frontEnd.name,
    client: frontEnd.client,
    audience: frontEnd.audience,
    login: refreshToken?.login ?? renewedLogin ?? createLoginId(),
    ...identity,
    // The doors compare this with the rules of each later configuration (`hashPresentRules` in relay/create-doors.ts).
    rules: hashRules(registration.allowsAt(frontEnd, resource), registration.provider, resource.identity),
    providerToken: actsAtProvider(resource) ? accessToken : undefined,
    iat,
    exp,
  };
  return {
    accessToken: grants.accessTokens.issue(content, resource),
    tokenType: 'Bearer',
    expiresIn: exp - iat,
    scope: resource.scope,
    identity,
    // Extra fields belong to the provider's token, which stays in the relay.
    extraFields: undefined,
  };
}

/** The fields of the first refresh token that come from the code and its redemption. */
type FirstTerms = Pick<
  RefreshTokenContent,
  'thumbprint' | 'redirectUri' | 'ownResource' | 'providerResource' | 'hasConsent' | 'address'
>;

/**
 * Grants the tokens of a new login, with its first refresh token if the policy allows that.
 *
 * @param token the provider's answer
 * @param identity undefined if the login is for the provider's API
 */
export function grantFirstToken(
  context: GrantContext,
  grantee: Grantee,
  token: TokenResponse,
  identity?: Identity,
  { thumbprint, ...terms }: FirstTerms = {},
): Granted {
  const policy = refreshPolicyAt(grantee);
  const isForProvider = grantee.resource === undefined;
  // Extra fields belong to the provider's token, which a login for a resource never gets.
  const kept = isForProvider ? token : { ...token, extraFields: undefined };
  const content = policy && firstRefreshTokenContent(policy, kept, thumbprint, context.now);
  return grantToken(context, grantee, { token, identity, refreshToken: content && { ...content, ...terms } });
}
