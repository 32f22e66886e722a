import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { FrontEnds, Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { type ExtraFields, pickPresentFields } from '../oauth/extra-fields.ts';
import { scopeForFrontEnd } from '../oauth/scope.ts';
import { type MachineRequest, machineDetail } from './authenticate-machine.ts';
import { type EndpointRequest, expectOrigin, frontEndEndpoint, requireParameter } from './front-end-endpoint.ts';
import { grantToMachine } from './grant-to-machine.ts';
import type { Granted } from './granted-token.ts';
import { redeemCode } from './redeem-code.ts';
import { refreshLogin } from './refresh-login.ts';

const grantsOfPeople = { authorization_code: redeemCode, refresh_token: refreshLogin };

/**
 * `POST /auth/<registration>/token`: grants tokens.
 *
 * A success has the nonce for the next proof. Of the failures, only `use_dpop_nonce` has a nonce, because
 * oidc-client-ts would mistake any other failure with a nonce for it, repeat the request, and hide the error.
 *
 * @see RFC 6749 §3.2, RFC 9449 §8.2
 */
export function tokenEndpoint(served: Served): Handler {
  const serve = async (request: EndpointRequest) => {
    const { ctx, frontEnd, parameters } = request;
    if (!frontEnd.takesOAuth) throw new RelayError('client_unauthorized');
    const type = requireParameter(parameters, 'grant_type');
    if (type !== 'authorization_code' && type !== 'refresh_token') {
      throw new RelayError('grant_unsupported');
    }
    ctx.state.grant = type;
    const onFailure = frontEnd.resources.length > 0 ? failTemporarily : undefined;
    const granted = await grantsOfPeople[type](request).catch(onFailure);
    ctx.set('DPoP-Nonce', served.grants.nonces.current());
    answerWithToken(ctx, granted, pickPresentFields(granted.extraFields, request.registration.provider));
  };
  return frontEndEndpoint(served, serve, serveMachine);
}

/** Grants a token to a machine. No other grant makes sense without a person's login. */
function serveMachine(request: MachineRequest): void {
  const { ctx, parameters } = request;
  const type = requireParameter(parameters, 'grant_type');
  if (type !== 'client_credentials') throw new RelayError('client_unauthorized', { detail: machineDetail });
  ctx.state.grant = type;
  answerWithToken(ctx, grantToMachine(request));
}

/** Turns a temporary failure into a 503, so that programs wait. After 502, 504 or `server_error`, they log in anew. */
function failTemporarily(error: unknown): never {
  if (isFailure(error, 'token_missing')) {
    throw new RelayError('token_endpoint_failed', { status: 503, detail: error.detail });
  }
  const isTemporary =
    error instanceof RelayError && error.oauthError === 'temporarily_unavailable' && error.status !== 429;
  throw isTemporary ? new RelayError(error.code, { ...error, status: 503 }) : error;
}

/**
 * `POST` to the address where a CMS starts logins: refreshes its token. Only Sveltia CMS does so, with JSON and an
 * empty `client_id`. Requests pass on if no CMS at this address has refresh tokens.
 *
 * @param frontEnds the front ends that may start a login at this address
 */
export function cmsTokenEndpoint(served: Served, frontEnds: FrontEnds): Handler {
  return async (ctx: Context, next) => {
    const frontEnd = frontEnds.findCmsToRefresh(ctx);
    if (frontEnd === undefined) return next();
    ctx.state.frontEnd = frontEnd.name;
    expectOrigin(ctx, frontEnd.hasOrigin(ctx.get('Origin')));
    // Against CSRF: any page can send a form without a preflight.
    if (!ctx.is('json')) throw new RelayError('content_type_unsupported');
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const { client_id: name = frontEnd.name } = parameters;
    if (name !== frontEnd.name) throw new RelayError('client_id_wrong');
    if (requireParameter(parameters, 'grant_type') !== 'refresh_token') {
      throw new RelayError('grant_unsupported');
    }
    ctx.state.grant = 'refresh_token';
    const registration = served.registration.current();
    const request = { ...served, registration, frontEnd, ctx, parameters };
    answerWithToken(ctx, await refreshLogin(request));
  };
}

/** @param extraFields what the front end gets besides its tokens. A field of OAuth takes precedence over them */
function answerWithToken(ctx: Context, granted: Granted, extraFields?: ExtraFields): void {
  ctx.body = {
    ...extraFields,
    access_token: granted.accessToken,
    token_type: granted.tokenType ?? 'bearer',
    expires_in: granted.expiresIn,
    scope: scopeForFrontEnd(granted.scope),
    refresh_token: granted.refreshToken,
    // Some libraries assume an end if they get none.
    refresh_token_expires_in: granted.refreshExpiresIn,
    identity: granted.identity,
  };
}
