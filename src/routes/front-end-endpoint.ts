import { RelayError } from '../failures/relay-error.ts';
import type { Place, Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import { readPublicClientId } from '../oauth/client-credentials.ts';
import { type EndpointParameters, parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import { authenticateMachine, type MachineRequest } from './authenticate-machine.ts';

/** A request of a front end to an endpoint of a registration whose provider is known. */
export interface EndpointRequest extends Place {
  readonly ctx: Context;
  readonly parameters: EndpointParameters;
  /** The login of a browser that this one renews. If the same person logs in, it keeps its id, by which a logout ends it. */
  readonly renews?: Pick<AccessTokenContent, 'login' | 'sub'> | undefined;
}

/**
 * Creates an endpoint that front ends call: a POST with parameters, from the front end's own origin or from a program.
 * A front end is a public client and only names itself; a machine proves who it is by a secret or a key.
 *
 * @param serve answers a front end
 * @param serveMachine answers a machine
 * @param mayBeOver whether the `client_id` of an unregistered client may have expired
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
    const id = readPublicClientId(ctx.req.headersDistinct['authorization'] ?? [], parameters);
    if (id === undefined) throw new RelayError('client_id_wrong');
    const frontEnd = frontEnds.requireForClient(id, (one) => grants.readRedirectUri(parameters, one), mayBeOver);
    ctx.state.frontEnd = frontEnd.name;
    // From here on, only pages of the named front end may read answers.
    if (origin !== undefined) expectOrigin(ctx, frontEnd.hasOrigin(origin));
    await serve({ ...served, registration: registration.current(), frontEnd, ctx, parameters });
  };
}

/**
 * Requires that a page has the right origin. Otherwise, the page cannot read the answer either.
 *
 * @throws {RelayError} `origin_foreign`
 */
export function expectOrigin(ctx: Context, isRight: boolean): void {
  if (isRight) return;
  forbidReading(ctx);
  throw new RelayError('origin_foreign');
}

/** @throws {RelayError} `token_request_invalid` if the parameter is missing */
export function requireParameter(parameters: EndpointParameters, name: keyof EndpointParameters): string {
  const value = parameters[name];
  if (value !== undefined) return value;
  throw new RelayError('token_request_invalid', { detail: `The ${name} is missing.` });
}

/**
 * Verifies the DPoP proof of a request, if it has one.
 *
 * @param grant for a `code`, the proof needs no nonce: a code is fresh and not bound to a key, so a thief gains nothing
 *   from a proof that was signed in advance
 * @param accept as of the proofs' `verify`; without a proof, it is called as well
 * @returns the thumbprint of the proved key
 * @throws {RelayError} `proof_invalid`, `nonce_required`, or as `accept` does
 * @see RFC 9449 §4.3
 */
export async function verifyProof(
  { ctx, grants, issuer }: EndpointRequest,
  grant: 'code' | 'refresh token',
  accept: (thumbprint: string | undefined) => void = () => {},
): Promise<string | undefined> {
  const [proof, ...others] = ctx.req.headersDistinct['dpop'] ?? [];
  if (others.length > 0) throw new RelayError('proof_invalid');
  if (proof === undefined) {
    accept(undefined);
    return undefined;
  }
  const nonces = grant === 'code' ? undefined : grants.nonces;
  return await grants.proofs.verify(proof, { method: ctx.method, url: `${issuer}/token`, nonces, accept });
}
