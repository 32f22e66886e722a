import type { Middleware } from 'koa';
import type { FrontEnd } from '../delivery/front-end.ts';
import { RelayError } from '../errors.ts';
import { readBody } from '../http/body.ts';
import type { Context, RequestState } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import { type EndpointParameters, parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import type { FrontEnds } from './front-ends.ts';

/**
 * An endpoint that the front end itself calls: a POST with parameters, from its own origin or from no
 * page at all. The front end is a public client, so it only names itself.
 *
 * @param redirectUriOf gives the redirect URI of the login that a request is for
 * @param serve answers a request of the front end that it names
 * @see RFC 6749 §3.2.1, RFC 9700 §2.6
 */
export function frontEndEndpoint(
  frontEnds: FrontEnds,
  redirectUriOf: RedirectUriOf,
  serve: (ctx: Context, frontEnd: FrontEnd, parameters: EndpointParameters) => Promise<void>,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const { origin } = ctx.req.headers;
    if (origin !== undefined && !frontEnds.areAnywhere && !frontEnds.hasOrigin(origin)) {
      throw new RelayError('origin_foreign');
    }
    const body = await readBody(ctx);
    const parameters = parseEndpointParameters(ctx.req.headers, body);
    const { client_id: id } = parameters;
    if (id === undefined) throw new RelayError('client_id_wrong');
    const frontEnd = frontEnds.ofClient(id, (one) => redirectUriOf(parameters, one));
    ctx.state.frontEnd = frontEnd.name;
    if (origin !== undefined && !frontEnd.hasOrigin(origin)) {
      // From here on, only the front end that is named may read answers.
      forbidReading(ctx);
      throw new RelayError('origin_foreign');
    }
    await serve(ctx, frontEnd, parameters);
  };
}

/** Gives the redirect URI of the login that a code or a refresh token is of. */
export type RedirectUriOf = (
  parameters: EndpointParameters,
  frontEnd: FrontEnd,
) => string | undefined;

/** @throws {RelayError} `token_request_invalid` if the parameter is missing */
export function required(parameters: EndpointParameters, name: keyof EndpointParameters): string {
  const value = parameters[name];
  if (value !== undefined) return value;
  throw new RelayError('token_request_invalid', { detail: `The ${name} is missing.` });
}

/**
 * Expects that a request names the resource of its login, if it names one.
 *
 * @throws {RelayError} `resource_refused`
 * @see RFC 8707 §2.2
 */
export function expectResource(
  { resource: asked }: EndpointParameters,
  { resource }: { readonly resource?: string | undefined },
): void {
  if (asked !== undefined && asked !== resource) throw new RelayError('resource_refused');
}
