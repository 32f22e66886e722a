import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context, RequestState } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import { redirect } from '../http/redirect.ts';
import type { FrontEnd, FrontEndRequest, FrontEnds, Registration } from '../login/login.ts';
import { codeChallenge } from '../login/pkce.ts';
import { newNonce, withLoginParameters } from '../oauth/authorization-request.ts';
import {
  codeChallengeOf,
  frontEndState,
  isOAuthRequest,
  narrowedScope,
  registeredRedirectUri,
} from '../oauth/front-end-request.ts';
import { parseQuery, type Query } from '../oauth/query.ts';
import { frontEndOfOAuthStart, frontEndOfPlainStart } from './select-front-end.ts';

/**
 * `GET /auth/<registration>` and `GET /auth/<registration>/<front end>`: redirects the browser to the
 * provider.
 *
 * @param answerInPlace answers OAuth requests whose front end or redirect URI is unknown
 */
export function startLogin(
  registration: Registration,
  frontEnds: FrontEnds,
  answerInPlace: AnswerFailure,
): Middleware<RequestState> {
  const lengthOfPath = `/auth/${registration.name}/`.length;
  return async (ctx: Context) => {
    const query = parseQuery(ctx.querystring);
    const inPath = ctx.path.slice(lengthOfPath) || undefined;
    if (isOAuthRequest(query)) {
      ctx.state.answerFailure = answerInPlace;
      const frontEnd = frontEndOfOAuthStart(frontEnds, query, inPath);
      ctx.state.frontEnd = frontEnd.name;
      startOAuthLogin(ctx, query, registration, frontEnd);
    } else {
      const frontEnd = frontEndOfPlainStart(frontEnds, query, inPath);
      ctx.state.frontEnd = frontEnd.name;
      ctx.state.answerFailure = frontEnd.deliveryOf(undefined).fail;
      startPlainLogin(ctx, query, registration, frontEnd);
    }
  };
}

/** The contract's start. Besides the front end, its only parameter is the front end's own state. */
function startPlainLogin(
  ctx: Context,
  query: Query,
  registration: Registration,
  frontEnd: FrontEnd,
): void {
  if (frontEnd.pkceRequired) throw new RelayError('pkce_required');
  const { scope = registration.provider().scope } = frontEnd;
  const url =
    frontEnd.scope === undefined
      ? registration.authorizationRequestUrl()
      : registration.authorizationRequestUrlFor({ scope, refresh: false });
  const state = registration.protection && frontEndState(query);
  redirectToProvider(ctx, url, scope, registration, frontEnd, { state, oauth: undefined });
}

/** @see RFC 6749 §4.1.1 */
function startOAuthLogin(
  ctx: Context,
  query: Query,
  registration: Registration,
  frontEnd: FrontEnd,
): void {
  const redirectUri = registeredRedirectUri(query, frontEnd.redirectUris);
  // From here on, failures go back to the front end.
  const deliverFailures = (state: string | undefined): void => {
    const oauth = { redirectUri, codeChallenge: '' };
    ctx.state.answerFailure = frontEnd.deliveryOf({ state, oauth }).fail;
  };
  deliverFailures(undefined);
  const state = frontEndState(query);
  deliverFailures(state);

  if (registration.protection === undefined) throw new RelayError('oauth_off');
  const oauth = { redirectUri, codeChallenge: codeChallengeOf(query) };
  const { scope: configured = registration.provider().scope } = frontEnd;
  const scope = narrowedScope(query, configured) ?? configured;
  const url = registration.authorizationRequestUrlFor({ scope, refresh: true });
  redirectToProvider(ctx, url, scope, registration, frontEnd, { state, oauth });
}

function redirectToProvider(
  ctx: Context,
  url: string,
  scope: string | undefined,
  { protection, provider }: Registration,
  frontEnd: FrontEnd,
  request: FrontEndRequest,
): void {
  const nonce = newNonce(scope);
  if (protection === undefined) {
    redirect(ctx, withLoginParameters(url, { nonce }));
    return;
  }
  const { state, codeVerifier } = protection.start(ctx, frontEnd.name, request);
  const challenge = provider().pkce ? codeChallenge(codeVerifier) : undefined;
  redirect(ctx, withLoginParameters(url, { state, codeChallenge: challenge, nonce }));
}
