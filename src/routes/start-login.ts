import type { Middleware } from 'koa';
import type { Client } from '../clients/client.ts';
import type { FrontEnd } from '../delivery/front-end.ts';
import { RelayError } from '../errors.ts';
import { type Context, type RequestState, readQuery } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import { redirect } from '../http/redirect.ts';
import { codeChallenge } from '../login/pkce.ts';
import type { Registration } from '../login/registration.ts';
import type { FrontEndRequest, OAuthRequest } from '../login/state.ts';
import { newNonce, withLoginParameters, withPrompt } from '../oauth/authorization-request.ts';
import type { Query } from '../oauth/query.ts';
import { narrowedScope, scopeWithin } from '../oauth/scope.ts';
import {
  codeChallengeOf,
  frontEndState,
  isOAuthRequest,
  pageToReturnTo,
  registeredRedirectUri,
  resourceOf,
} from '../oauth/start-parameters.ts';
import type { FrontEnds } from './front-ends.ts';

/**
 * `GET /auth/<registration>`, `GET /auth/<registration>/<front end>` and, for CMSes, `GET /auth`: redirects
 * the browser to the provider.
 *
 * @param answerInPlace answers OAuth requests whose front end or redirect URI is unknown
 * @param askConsent asks a person whether a client that nobody registered may log in
 */
export function startLogin(
  registration: Registration,
  frontEnds: FrontEnds,
  answerInPlace: AnswerFailure,
  askConsent: AskConsent,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const query = readQuery(ctx);
    if (isOAuthRequest(query)) {
      ctx.state.answerFailure = answerInPlace;
      const { frontEnd, client } = await frontEnds.ofOAuthStart(ctx);
      ctx.state.frontEnd = frontEnd.name;
      if (!frontEnd.takesOAuth) throw new RelayError('client_unauthorized');
      const start = { ctx, query, registration, frontEnd };
      if (client === undefined || client.vouchedBy === 'operator') startOAuthLogin(start);
      else await askConsent(ctx, frontEnd, client, openRequest(start));
    } else {
      const frontEnd = frontEnds.ofPlainStart(ctx);
      ctx.state.frontEnd = frontEnd.name;
      if (!hasBackend(query, frontEnd)) {
        ctx.state.answerFailure = frontEnd.answerInPlace;
        throw new RelayError('cms_backend_wrong');
      }
      ctx.state.answerFailure = frontEnd.deliveryOf(undefined).fail;
      startPlainLogin({ ctx, query, registration, frontEnd });
    }
  };
}

/** Asks a person whether a client may log in with this request. */
export type AskConsent = (
  ctx: Context,
  frontEnd: FrontEnd,
  client: Client,
  request: FrontEndRequest & { readonly oauth: OAuthRequest },
) => Promise<void>;

/** The start of a login: the request, and what it is for. */
interface Start {
  readonly ctx: Context;
  readonly query: Query;
  readonly registration: Registration;
  readonly frontEnd: FrontEnd;
}

/**
 * A start without PKCE. The contract's only parameter, besides the front end, is the front end's own state; a CMS
 * has a scope instead.
 */
function startPlainLogin(start: Start): void {
  const { ctx, query, registration, frontEnd } = start;
  if (frontEnd.tokenDelivery === 'code') throw new RelayError('pkce_required');
  const isCms = frontEnd.cmsBackend !== undefined;
  const state = registration.protection && !isCms ? frontEndState(query) : undefined;
  ctx.state.answerFailure = frontEnd.deliveryOf({ state }).fail;
  if (frontEnd.tokenDelivery === 'session') {
    startSession(start, state);
    return;
  }
  const { scope: configured = registration.provider().scope } = frontEnd;
  const part = isCms ? scopeWithin(query, configured) : configured;
  const scope = registration.scopeWithAccess(part, configured, frontEnd);
  const refresh = isCms && frontEnd.asksForRefresh;
  const otherAccount = asksForOtherAccount(query);
  redirectToProvider(start, { scope, refresh, otherAccount }, { state });
}

/**
 * The start of a session.
 *
 * @param state the front end's own, which comes back only with a failure
 */
function startSession(start: Start, state: string | undefined): void {
  const { query, registration, frontEnd } = start;
  const returnTo = pageToReturnTo(query, frontEnd.origin);
  const { asksForRefresh: refresh, scope = registration.provider().scope } = frontEnd;
  const otherAccount = asksForOtherAccount(query);
  redirectToProvider(start, { scope, refresh, otherAccount }, { state, returnTo });
}

function asksForOtherAccount({ prompt }: Query): boolean {
  return prompt === 'select_account';
}

/** Whether a start is of no CMS, or of a CMS that listens to messages with the backend's name. */
function hasBackend({ provider }: Query, { cmsBackend }: FrontEnd): boolean {
  return cmsBackend === undefined || provider === undefined || provider === cmsBackend;
}

/** @see RFC 6749 §4.1.1 */
function startOAuthLogin(start: Start): void {
  const { ctx, query, registration, frontEnd } = start;
  const redirectUri = registeredRedirectUri(query, frontEnd.redirectUris);
  // From here on, failures go back to the front end.
  const deliverFailures = (state: string | undefined): void => {
    const oauth = { redirectUri, codeChallenge: '' };
    ctx.state.answerFailure = frontEnd.deliveryOf({ state, oauth }).fail;
  };
  deliverFailures(undefined);
  const state = frontEndState(query);
  deliverFailures(state);

  const { scope: configured = registration.provider().scope } = frontEnd;
  const oauth = oauthRequestOf(start, redirectUri);
  const part = narrowedScope(query, configured) ?? configured;
  const scope = registration.scopeWithAccess(part, configured, frontEnd);
  redirectAfterConsent(start, { state, oauth: { ...oauth, scope } });
}

function oauthRequestOf(
  { query, registration, frontEnd: { client, isNative } }: Omit<Start, 'ctx'>,
  redirectUri: string,
): OAuthRequest {
  if (registration.protection === undefined) throw new RelayError('oauth_off');
  const codeChallenge = codeChallengeOf(query);
  const resource = isNative ? resourceOf(query) : undefined;
  const otherAccount = asksForOtherAccount(query);
  return { redirectUri, codeChallenge, client, resource, otherAccount };
}

/**
 * The request of a client that nobody registered. Its failures stay here: otherwise, anybody could register an address
 * that the relay redirects to.
 *
 * @see RFC 9700 §4.11.2
 */
function openRequest({ query, registration, frontEnd }: Start) {
  const redirectUri = registeredRedirectUri(query, frontEnd.redirectUris);
  const state = frontEndState(query);
  const { scope: configured = registration.provider().scope } = frontEnd;
  const oauth = oauthRequestOf({ query, registration, frontEnd }, redirectUri);
  const part = scopeWithin(query, configured);
  const scope = registration.scopeWithAccess(part, configured, frontEnd);
  return { state, oauth: { ...oauth, scope } };
}

/** Redirects to the provider with a request that is checked, and that the person has consented to if need be. */
export function redirectAfterConsent(
  start: Omit<Start, 'query'>,
  {
    state,
    oauth: { scope, otherAccount, ...oauth },
  }: FrontEndRequest & { readonly oauth: OAuthRequest },
): void {
  const { asksForRefresh: refresh } = start.frontEnd;
  redirectToProvider(start, { scope, refresh, otherAccount }, { state, oauth });
}

/** Redirects to an authorization request, with the parameters of this login. */
function redirectToProvider(
  { ctx, registration, frontEnd }: Omit<Start, 'query'>,
  asked: {
    readonly scope: string | undefined;
    readonly refresh: boolean;
    readonly otherAccount: boolean | undefined;
  },
  request: FrontEndRequest,
): void {
  const { protection, provider } = registration;
  const usual = registration.authorizationRequestUrl(asked);
  const url = asked.otherAccount ? withPrompt(usual, provider().accountPrompt) : usual;
  const nonce = newNonce(asked.scope);
  if (protection === undefined) {
    redirect(ctx, withLoginParameters(url, { nonce }));
    return;
  }
  const { state, codeVerifier } = protection.start(ctx, frontEnd.name, request);
  const challenge = provider().pkce ? codeChallenge(codeVerifier) : undefined;
  redirect(ctx, withLoginParameters(url, { state, codeChallenge: challenge, nonce }));
}
