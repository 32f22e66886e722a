import type { Middleware } from 'koa';
import type { Clock } from '../clock.ts';
import type { FrontEnd } from '../delivery/front-end.ts';
import { RelayError } from '../errors.ts';
import type { Grants } from '../grants/grants.ts';
import { firstRefreshToken, type RefreshTokenContent } from '../grants/refresh-tokens.ts';
import { readBody } from '../http/body.ts';
import type { Context, RequestState } from '../http/context.ts';
import { forbidReading } from '../http/cors.ts';
import type { Registration } from '../login/registration.ts';
import { type EndpointParameters, parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { revokesOnlyAccessTokens } from '../oauth/revocation.ts';
import { scopeForFrontEnd } from '../oauth/scope.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { frontEndEndpoint, required } from './front-end-endpoint.ts';
import type { FrontEnds } from './front-ends.ts';

/** Serves the token requests of one `grant_type`. */
export type ServeGrant = (
  ctx: Context,
  frontEnd: FrontEnd,
  parameters: EndpointParameters,
) => Promise<GrantedToken>;

type GrantType = NonNullable<RequestState['grant']>;

/**
 * `POST /auth/<registration>/token`: gives the front end its token.
 *
 * A success has the nonce for the next proof. Of the failures, only `use_dpop_nonce` has one: oidc-client-ts takes any
 * other with a nonce for that one, sends the request again, and hides the error.
 *
 * @param grants by their `grant_type`
 * @see RFC 6749 §3.2, RFC 9449 §8.2
 */
export function tokenEndpoint(
  frontEnds: FrontEnds,
  grants: Readonly<Record<GrantType, ServeGrant>>,
  { nonces, redirectUriOf }: Pick<Grants, 'nonces' | 'redirectUriOf'>,
): Middleware<RequestState> {
  return frontEndEndpoint(frontEnds, redirectUriOf, async (ctx, frontEnd, parameters) => {
    if (!frontEnd.takesOAuth) throw new RelayError('client_unauthorized');
    const type = required(parameters, 'grant_type');
    if (!isGrantType(type)) throw new RelayError('grant_unsupported');
    ctx.state.grant = type;
    const token = await grants[type](ctx, frontEnd, parameters);
    ctx.set('DPoP-Nonce', nonces.current());
    answerWithToken(ctx, token);
  });
}

/**
 * `POST` to the address at which a CMS starts its logins: gives it its next token. Only Sveltia CMS asks, with JSON and
 * an empty `client_id`.
 *
 * @param frontEnds those of the registration. One is a CMS that gets refresh tokens at this address
 */
export function cmsTokenEndpoint(
  frontEnds: FrontEnds,
  refresh: ServeGrant,
): Middleware<RequestState> {
  return async (ctx: Context, next) => {
    const frontEnd = frontEnds.findCmsToRefresh(ctx);
    if (frontEnd === undefined) return next();
    ctx.state.frontEnd = frontEnd.name;
    if (!frontEnd.hasOrigin(ctx.get('Origin'))) {
      forbidReading(ctx);
      throw new RelayError('origin_foreign');
    }
    // A form could be sent from any page, without a preflight.
    if (!ctx.is('json')) throw new RelayError('content_type_unsupported');
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const { client_id: name = frontEnd.name } = parameters;
    if (name !== frontEnd.name) throw new RelayError('client_id_wrong');
    if (required(parameters, 'grant_type') !== 'refresh_token') {
      throw new RelayError('grant_unsupported');
    }
    ctx.state.grant = 'refresh_token';
    answerWithToken(ctx, await refresh(ctx, frontEnd, parameters));
  };
}

function answerWithToken(ctx: Context, token: GrantedToken): void {
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

function isGrantType(type: string): type is GrantType {
  return type === 'authorization_code' || type === 'refresh_token';
}

/** A token for the front end. Its refresh token, if it has one, is one of the relay. */
export type GrantedToken = TokenResponse;

/** The provider's own refresh token stays in the relay. */
type WithoutRefreshToken = Omit<TokenResponse, 'refreshToken' | 'refreshExpiresIn'>;

/**
 * Grants a token, and a refresh token if there is one that is not over already.
 *
 * @param issue gives undefined for a content that is too long
 * @param content what the refresh token holds; undefined: there is none
 */
export function withRefreshToken(
  issue: (content: RefreshTokenContent) => string | undefined,
  token: WithoutRefreshToken,
  content: RefreshTokenContent | undefined,
  now: Clock,
): GrantedToken {
  const left = content === undefined ? 0 : Math.floor(content.endsAt - now() / 1000);
  const refreshToken = content !== undefined && left > 0 ? issue(content) : undefined;
  return {
    ...token,
    refreshToken,
    refreshExpiresIn: refreshToken === undefined ? undefined : left,
  };
}

/**
 * What grants the token of a new login, with the first refresh token if the front end gets one.
 *
 * @param registration pinned
 * @param login what the refresh token has of the login besides
 * @returns takes the thumbprint of the key that the front end proves, if it proves one
 */
export function firstGrant(
  { refreshTokens }: Pick<Grants, 'refreshTokens'>,
  registration: Registration,
  frontEnd: FrontEnd,
  now: Clock,
  login: Pick<RefreshTokenContent, 'redirectUri' | 'resource'> = {},
) {
  const owner = { registration: registration.audience(), frontEnd: frontEnd.audience };
  const keepsAccessToken = revokesOnlyAccessTokens(registration.provider());
  const policy = frontEnd.refreshPolicy && { ...frontEnd.refreshPolicy, keepsAccessToken };
  return (token: TokenResponse, thumbprint?: string): GrantedToken => {
    const content = policy && firstRefreshToken(policy, token, thumbprint, now);
    const issue = (issued: RefreshTokenContent) =>
      refreshTokens.issue({ ...issued, ...login }, owner);
    return withRefreshToken(issue, token, content, now);
  };
}

/**
 * Verifies the DPoP proof of a request, if it has one.
 *
 * @param url the endpoint's public address
 * @returns the thumbprint of the proved key
 * @throws {RelayError} `proof_invalid`, `nonce_required`
 * @see RFC 9449 §4.3
 */
export async function proofOf(
  ctx: Context,
  { proofs, nonces }: Pick<Grants, 'proofs' | 'nonces'>,
  url: string,
): Promise<string | undefined> {
  const [proof, ...others] = ctx.req.headersDistinct['dpop'] ?? [];
  if (others.length > 0) throw new RelayError('proof_invalid');
  return proof === undefined
    ? undefined
    : await proofs.verify(proof, { method: ctx.method, url, nonces });
}
