import { RelayError } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
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
  /** The login of a browser that this request renews. If the same person logs in, the login keeps its id. */
  readonly renews?: Pick<AccessTokenContent, 'login' | 'sub'> | undefined;
}

/**
 * Creates an endpoint that front ends call: a POST with parameters, from the front end's own origin or from a program.
 * A front end is a public client and only names itself; a machine proves who it is by a secret or a key.
 *
 * @param serve answers a front end
 * @param serveMachine answers a machine
 * @param evenIfExpired whether the `client_id` of an unregistered client may have expired
 * @see RFC 6749 §3.2.1, RFC 9700 §2.6
 */
export function frontEndEndpoint(
  served: Served,
  serve: (request: EndpointRequest) => Promise<void>,
  serveMachine: (request: MachineRequest) => Promise<void> | void,
  evenIfExpired = false,
): Handler {
  const { registration, frontEnds, grants } = served;
  return async (ctx: Context) => {
    const { origin } = ctx.req.headers;
    if (origin !== undefined && !frontEnds.takesAnyOrigin && !frontEnds.hasOrigin(origin)) {
      throw new RelayError('origin_foreign');
    }
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const machineRequest = await authenticateMachine(served, ctx, parameters);
    if (machineRequest !== undefined) {
      await serveMachine(machineRequest);
      return;
    }
    const id = readPublicClientId(ctx.req.headersDistinct['authorization'] ?? [], parameters);
    if (id === undefined) throw new RelayError('client_id_wrong');
    const readRedirectUri = (candidate: FrontEnd) => grants.readRedirectUri(parameters, candidate);
    const frontEnd = frontEnds.requireForClient(id, readRedirectUri, evenIfExpired);
    ctx.state.frontEnd = frontEnd.name;
    // From here on, only pages of the named front end may read answers.
    if (origin !== undefined) expectOrigin(ctx, frontEnd.hasOrigin(origin));
    await serve({ ...served, registration: registration.current(), frontEnd, ctx, parameters });
  };
}

/**
 * Refuses a page whose origin is not allowed, and keeps the page from reading the answer.
 *
 * @throws {RelayError} `origin_foreign`
 */
export function expectOrigin(ctx: Context, isAllowed: boolean): void {
  if (isAllowed) return;
  forbidReading(ctx);
  throw new RelayError('origin_foreign');
}

/** The value of a parameter. @throws {RelayError} `token_request_invalid` if it is missing */
export function requireParameter(parameters: EndpointParameters, name: keyof EndpointParameters): string {
  const value = parameters[name];
  if (value !== undefined) return value;
  throw new RelayError('token_request_invalid', { detail: `The ${name} is missing.` });
}
