import { RelayError } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Owner, RefreshTokenContent } from '../grants/refresh-tokens.ts';
import type { Registration } from '../login/registration.ts';
import { actsAtProvider, type Resource, requireResourceOfLogin } from '../resources/resource.ts';
import type { EndpointRequest } from './front-end-endpoint.ts';

/** Whom a token is for: a front end at a registration, what its login is for, and which address pays for calls. */
export interface Grantee {
  readonly registration: Registration;
  readonly frontEnd: FrontEnd;
  /** Undefined if the login is for the provider's API. */
  readonly resource: Resource | undefined;
  /**
   * The client address to charge for calls to the provider, if it is known. The calls of an unregistered client are
   * charged to the address that logged in, not to the caller, because a hostile page could make its visitors send the
   * token of its own login, and so use up their limits. These charges have a count of their own, because the client can
   * send its token from anywhere, and must not use up the logins of the people at that address.
   */
  readonly chargedAddress: string | undefined;
}

type Terms = Pick<RefreshTokenContent, 'ownResource' | 'providerResource' | 'hasConsent' | 'scope' | 'address'>;

/**
 * Requires that the resource and the scope of a login are those that the request names, and that the configuration
 * still allows them to the front end.
 *
 * @returns whom the token of the login is for
 * @throws {RelayError} `resource_refused`, or `grant_invalid` if the configuration does not allow them any more, or the
 *   person was asked about a smaller scope
 */
export function requireGrantee(request: EndpointRequest, terms: Terms): Grantee {
  const { ctx, frontEnd, parameters, registration } = request;
  const { resource: asked } = parameters;
  expectProviderResource(frontEnd, terms, asked);
  const resource = requireResourceOfLogin(frontEnd, terms, asked);
  expectScopeShown(frontEnd, resource, terms);
  ctx.state.resource = resource?.name;
  // The prefix gives the charges of unregistered clients a count of their own.
  const addressOfLogin = terms.address && `clients ${terms.address}`;
  const chargedAddress = frontEnd.client === undefined ? registration.addressOf(ctx.req) : addressOfLogin;
  return { registration, frontEnd, resource, chargedAddress };
}

/**
 * Requires that a program names no other `resource` of its provider than at the start of its login. The `resource` of a
 * page is ignored, as at the start.
 *
 * @throws {RelayError} `resource_refused`
 * @see RFC 8707 §2.2
 */
function expectProviderResource({ kind, resources }: FrontEnd, { providerResource }: Terms, asked?: string): void {
  const isChecked = kind === 'native' && resources.length === 0;
  const isOther = asked !== undefined && asked !== providerResource;
  if (isChecked && isOther) throw new RelayError('resource_refused');
}

/**
 * Requires that a person who was asked about a client has seen that it acts with their account at the provider
 * (`hasConsent`), because a reload may have changed that since the login.
 *
 * @throws {RelayError} `grant_invalid`
 */
function expectScopeShown({ asksPeople }: FrontEnd, resource: Resource | undefined, { hasConsent }: Terms): void {
  const mustBeShown = asksPeople && resource !== undefined && actsAtProvider(resource);
  if (mustBeShown && hasConsent === undefined) throw new RelayError('grant_invalid');
}

/** The owner of the refresh tokens that a front end may use. */
export function ownerOf({ registration, frontEnd }: Pick<Grantee, 'registration' | 'frontEnd'>): Owner {
  return [registration.audience, frontEnd.audience];
}

/** The policy for the refresh tokens of a front end. Undefined if it gets none. */
export function refreshPolicyAt({ registration, frontEnd }: Pick<Grantee, 'registration' | 'frontEnd'>) {
  const { refreshPolicy } = frontEnd;
  // Some providers revoke only access tokens. There, a logout needs the access token.
  const keepsAccessToken = registration.provider.revocation?.takes === 'access_token';
  return refreshPolicy && { ...refreshPolicy, keepsAccessToken };
}
