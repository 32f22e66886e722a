import { RelayError } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Place, Served } from '../front-ends/front-ends.ts';
import type { RefreshTokenContent } from '../grants/refresh-tokens.ts';
import { readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import { type EndpointParameters, parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { scopeBeyond } from '../oauth/scope.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { actsAtProvider, type Resource } from '../resources/resource.ts';
import { revokeSilently } from './admission.ts';
import { authenticateMachine, type MachineRequest } from './machine.ts';

/** A request of a front end to an endpoint of a registration, with its present provider. */
export interface EndpointRequest extends Place {
  readonly ctx: Context;
  readonly parameters: EndpointParameters;
}

/**
 * An endpoint that the front end itself calls: a POST with parameters, from its own origin or from no
 * page at all. The front end is a public client, so it only names itself.
 *
 * A machine proves who it is instead, by a secret or a key.
 *
 * @param serve answers a request of the front end that it names
 * @param serveMachine the same of a machine
 * @param mayBeOver whether the identifier of its client may have ended
 * @see RFC 6749 §3.2.1, RFC 9700 §2.6
 */
export function frontEndEndpoint(
  served: Served,
  serve: (request: EndpointRequest) => Promise<void>,
  serveMachine: (request: MachineRequest) => Promise<void> | void,
  mayBeOver = false,
): Handler {
  const { registration, frontEnds, grants } = served;
  return async (ctx: Context) => {
    const { origin } = ctx.req.headers;
    if (origin !== undefined && !frontEnds.areAnywhere && !frontEnds.hasOrigin(origin)) {
      throw new RelayError('origin_foreign');
    }
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const ofMachine = await authenticateMachine(served, ctx, parameters);
    if (ofMachine !== undefined) {
      await serveMachine(ofMachine);
      return;
    }
    const { client_id: id } = parameters;
    if (id === undefined) throw new RelayError('client_id_wrong');
    const frontEnd = frontEnds.ofClient(id, (one) => grants.redirectUriOf(parameters, one), mayBeOver);
    ctx.state.frontEnd = frontEnd.name;
    // From here on, only the front end that is named may read answers.
    if (origin !== undefined) expectOrigin(ctx, frontEnd.hasOrigin(origin));
    await serve({ ...served, registration: registration.current(), frontEnd, ctx, parameters });
  };
}

/**
 * Takes back that the page of a request may read the answer, unless its origin is right.
 *
 * @throws {RelayError} `origin_foreign`
 */
export function expectOrigin(ctx: Context, isRight: boolean): void {
  if (isRight) return;
  forbidReading(ctx);
  throw new RelayError('origin_foreign');
}

/** @throws {RelayError} `token_request_invalid` if the parameter is missing */
export function required(parameters: EndpointParameters, name: keyof EndpointParameters): string {
  const value = parameters[name];
  if (value !== undefined) return value;
  throw new RelayError('token_request_invalid', { detail: `The ${name} is missing.` });
}

/**
 * Expects that a program names no other `resource` of its provider than at the start of its login. Pages are ignored,
 * as at the start. `resourceOfLogin` compares the resources of the relay.
 *
 * @throws {RelayError} `resource_refused`
 * @see RFC 8707 §2.2
 */
export function expectResource(
  { parameters: { resource: asked }, frontEnd }: EndpointRequest,
  { providerResource }: Pick<RefreshTokenContent, 'providerResource'>,
): void {
  const isOther = asked !== undefined && asked !== providerResource;
  const isOfProvider = frontEnd.kind === 'native' && frontEnd.resources.length === 0;
  if (isOfProvider && isOther) throw new RelayError('resource_refused');
}

/**
 * The client address that a call to the provider counts for, if it is known. For a client without an entry of its own,
 * it is the address of the login's callback: any page can make its visitors send the token of its own login. The count is
 * apart from that of other logins at the address, because the person of that login can send its token from anywhere.
 */
export function countedAddress(
  { registration, frontEnd, ctx }: EndpointRequest,
  { address }: Pick<RefreshTokenContent, 'address'>,
): string | undefined {
  if (frontEnd.client === undefined) return registration.addressOf(ctx.req);
  return address && `clients ${address}`;
}

/**
 * Expects that a person who was asked about a client has seen that it acts with their account at the provider: a reload
 * may have changed that since the login.
 *
 * @throws {RelayError} `grant_invalid`
 */
export function expectScopeShown(
  { asksPeople }: Pick<FrontEnd, 'asksPeople'>,
  resource: Resource | undefined,
  { hasConsent }: Pick<RefreshTokenContent, 'hasConsent'>,
): void {
  const mustBeShown = asksPeople && resource !== undefined && actsAtProvider(resource);
  if (mustBeShown && hasConsent === undefined) throw new RelayError('grant_invalid');
}

/**
 * Expects that the provider has not granted more than the person has agreed to. Otherwise the tokens are revoked.
 *
 * @param login what the person was shown, if there was a question
 * @throws {RelayError} `consent_exceeded`
 */
export function expectConsent(
  { registration, grants }: EndpointRequest,
  { hasConsent, scope }: Pick<RefreshTokenContent, 'hasConsent' | 'scope'>,
  token: TokenResponse,
): void {
  // With no scope asked for, such a provider grants earlier ones, which the person was not shown.
  const shown = registration.provider.addsEarlierScopes ? (scope ?? '') : scope;
  if (hasConsent === undefined || scopeBeyond(token.scope, shown).length === 0) return;
  // Once: a client that tries again must not use up the requests that the provider allows the relay.
  void grants.revocations.once(token, async () => revokeSilently(registration, token));
  throw new RelayError('consent_exceeded');
}

/**
 * Verifies the DPoP proof of a request, if it has one.
 *
 * @param grant a code is fresh and bound to no key, so a proof that a thief had signed in advance gains nothing: it
 *   needs no nonce, and the client needs no request to learn one
 * @returns the thumbprint of the proved key
 * @throws {RelayError} `proof_invalid`, `nonce_required`
 * @see RFC 9449 §4.3
 */
export async function proofOf({ ctx, grants, issuer }: EndpointRequest, grant: 'code' | 'refresh token') {
  const [proof, ...others] = ctx.req.headersDistinct['dpop'] ?? [];
  if (others.length > 0) throw new RelayError('proof_invalid');
  if (proof === undefined) return undefined;
  const nonces = grant === 'code' ? undefined : grants.nonces;
  return await grants.proofs.verify(proof, { method: ctx.method, url: `${issuer}/token`, nonces });
}
