import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import { firstRefreshToken, type RefreshTokenContent } from '../grants/refresh-tokens.ts';
import { readBody } from '../http/body.ts';
import type { Context, RequestState } from '../http/context.ts';
import { parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { revokesOnlyAccessTokens } from '../oauth/revocation.ts';
import { scopeForFrontEnd } from '../oauth/scope.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import {
  type EndpointRequest,
  expectOrigin,
  frontEndEndpoint,
  ownerOf,
  required,
} from './front-end-endpoint.ts';
import type { FrontEnds, Place, Served } from './front-ends.ts';

/**
 * Serves the token requests of one `grant_type`.
 *
 * @returns a token for the front end. Its refresh token, if it has one, is one of the relay
 */
export type ServeGrant = (request: EndpointRequest) => Promise<TokenResponse>;

type GrantType = NonNullable<RequestState['grant']>;

/**
 * `POST /auth/<registration>/token`: gives the front end its token.
 *
 * A success has the nonce for the next proof. Of the failures, only `use_dpop_nonce` has one: oidc-client-ts takes any
 * other with a nonce for that one, sends the request again, and hides the error.
 *
 * @param serve by `grant_type`
 * @see RFC 6749 §3.2, RFC 9449 §8.2
 */
export function tokenEndpoint(
  served: Served,
  serve: Readonly<Record<GrantType, ServeGrant>>,
): Middleware<RequestState> {
  return frontEndEndpoint(served, async (request) => {
    const { ctx, frontEnd, parameters } = request;
    if (!frontEnd.takesOAuth) throw new RelayError('client_unauthorized');
    const type = required(parameters, 'grant_type');
    if (type !== 'authorization_code' && type !== 'refresh_token') {
      throw new RelayError('grant_unsupported');
    }
    ctx.state.grant = type;
    const token = await serve[type](request);
    ctx.set('DPoP-Nonce', served.grants.nonces.current());
    answerWithToken(ctx, token);
  });
}

/**
 * `POST` to the address at which a CMS starts its logins: gives it its next token. Only Sveltia CMS asks, with JSON and
 * an empty `client_id`.
 *
 * @param frontEnds those that may start a login at this address. One is a CMS that gets refresh tokens there
 */
export function cmsTokenEndpoint(
  { registration }: Served,
  frontEnds: FrontEnds,
  refresh: ServeGrant,
): Middleware<RequestState> {
  return async (ctx: Context, next) => {
    const frontEnd = frontEnds.findCmsToRefresh(ctx);
    if (frontEnd === undefined) return next();
    ctx.state.frontEnd = frontEnd.name;
    expectOrigin(ctx, frontEnd.hasOrigin(ctx.get('Origin')));
    // A form could be sent from any page, without a preflight.
    if (!ctx.is('json')) throw new RelayError('content_type_unsupported');
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const { client_id: name = frontEnd.name } = parameters;
    if (name !== frontEnd.name) throw new RelayError('client_id_wrong');
    if (required(parameters, 'grant_type') !== 'refresh_token') {
      throw new RelayError('grant_unsupported');
    }
    ctx.state.grant = 'refresh_token';
    const request = { ctx, frontEnd, parameters, registration: registration.pinned() };
    answerWithToken(ctx, await refresh(request));
  };
}

function answerWithToken(ctx: Context, token: TokenResponse): void {
  ctx.body = {
    access_token: token.accessToken,
    token_type: token.tokenType ?? 'bearer',
    expires_in: token.expiresIn,
    scope: scopeForFrontEnd(token.scope),
    refresh_token: token.refreshToken,
    // Some libraries guess an end if they are told none.
    refresh_token_expires_in: token.refreshExpiresIn,
  };
}

/**
 * Grants a token, and a refresh token if there is one that is not over already, and not too long. The provider's own
 * one stays in the relay.
 *
 * @param content what the refresh token holds; undefined: there is none
 */
export function withRefreshToken(
  { grants, now }: Served,
  place: Place,
  token: Omit<TokenResponse, 'refreshToken' | 'refreshExpiresIn'>,
  content: RefreshTokenContent | undefined,
): TokenResponse {
  const left = content === undefined ? 0 : Math.floor(content.endsAt - now() / 1000);
  const isGranted = content !== undefined && left > 0;
  const refreshToken = isGranted ? grants.refreshTokens.issue(content, ownerOf(place)) : undefined;
  return {
    ...token,
    refreshToken,
    refreshExpiresIn: refreshToken === undefined ? undefined : left,
  };
}

/**
 * Grants the token of a new login, with the first refresh token if the front end gets one.
 *
 * @param thumbprint that of the key that the front end proves, if it proves one
 * @param login what the refresh token has of the login besides
 */
export function firstGrant(
  served: Served,
  place: Place,
  token: TokenResponse,
  thumbprint?: string,
  login: Pick<RefreshTokenContent, 'redirectUri' | 'resource'> = {},
): TokenResponse {
  const policy = refreshPolicyAt(place);
  const content = policy && firstRefreshToken(policy, token, thumbprint, served.now);
  return withRefreshToken(served, place, token, content && { ...content, ...login });
}

/** @returns undefined if the front end gets no refresh tokens */
export function refreshPolicyAt({ registration, frontEnd: { refreshPolicy } }: Place) {
  const keepsAccessToken = revokesOnlyAccessTokens(registration.provider());
  return refreshPolicy && { ...refreshPolicy, keepsAccessToken };
}

/**
 * Verifies the DPoP proof of a request, if it has one.
 *
 * @returns the thumbprint of the proved key
 * @throws {RelayError} `proof_invalid`, `nonce_required`
 * @see RFC 9449 §4.3
 */
export async function proofOf(
  ctx: Context,
  { grants: { proofs, nonces }, issuer }: Served,
): Promise<string | undefined> {
  const [proof, ...others] = ctx.req.headersDistinct['dpop'] ?? [];
  if (others.length > 0) throw new RelayError('proof_invalid');
  if (proof === undefined) return undefined;
  return await proofs.verify(proof, { method: ctx.method, url: `${issuer}/token`, nonces });
}
