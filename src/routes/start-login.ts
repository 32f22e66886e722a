import type { Client } from '../clients/client.ts';
import {
  confirmationPage,
  consentPage,
  consentPolicy,
  numberOf,
} from '../delivery/consent-page.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import type { FrontEnds, Served } from '../front-ends/front-ends.ts';
import { readBody } from '../http/body.ts';
import { type Context, type Handler, inOrder, readQuery } from '../http/context.ts';
import { answerFailures, answering } from '../http/error-responder.ts';
import { redirect } from '../http/redirect.ts';
import { expectNavigation } from '../http/request-guards.ts';
import { codeChallenge } from '../login/pkce.ts';
import type { FrontEndRequest, OAuthRequest } from '../login/state.ts';
import { newNonce, withAccount, withLoginParameters } from '../oauth/authorization-request.ts';
import { parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import type { Query } from '../oauth/query.ts';
import { narrowedScope, scopeWithin, scopeWithout } from '../oauth/scope.ts';
import {
  codeChallengeOf,
  frontEndState,
  isOAuthRequest,
  loginHintOf,
  pageToReturnTo,
  registeredRedirectUri,
  resourceOf,
} from '../oauth/start-parameters.ts';
import { findResource, type Resource } from '../resources/resource.ts';

/** Where a login starts. Its provider may not be known. */
interface Place extends Served {
  readonly frontEnd: FrontEnd;
}

/**
 * `GET /auth/<registration>`, `GET /auth/<registration>/<front end>` and, for CMSes, `GET /auth`: redirects
 * the browser to the provider.
 *
 * @param frontEnds those that may start a login at this address
 */
export function startLogin(served: Served, frontEnds: FrontEnds): Handler {
  return async (ctx: Context) => {
    const query = readQuery(ctx);
    if (!isOAuthRequest(query)) return await startPlainly(ctx, query, served, frontEnds);
    const { answerInPlace } = served.frontEnds.first;
    await answering(answerInPlace, () => startByOAuth(ctx, query, served, frontEnds));
  };
}

/**
 * A start without PKCE. The contract's only parameter, besides the front end, is the front end's own state; a CMS
 * has a scope instead. The state of a session comes back only with a failure.
 */
async function startPlainly(ctx: Context, query: Query, served: Served, frontEnds: FrontEnds) {
  const frontEnd = frontEnds.ofPlainStart(ctx);
  if (frontEnd === undefined) throw new RelayError('client_unknown');
  ctx.state.frontEnd = frontEnd.name;
  const place = { ...served, frontEnd };
  const { cmsBackend, tokenDelivery, origin, answerInPlace } = frontEnd;
  const { provider: backend = cmsBackend } = query;
  const isCms = cmsBackend !== undefined;
  await answering(answerInPlace, () => {
    // The window of a CMS listens only to messages with the name of its backend.
    if (isCms && backend !== cmsBackend) throw new RelayError('cms_backend_wrong');
  });
  const state = await answering(frontEnd.deliveryOf().fail, () => {
    if (tokenDelivery === 'code') throw new RelayError('pkce_required');
    return served.registration.protection && !isCms ? frontEndState(query) : undefined;
  });
  await answering(frontEnd.deliveryOf({ state }).fail, () => {
    const returnTo = tokenDelivery === 'session' ? pageToReturnTo(query, origin) : undefined;
    const narrow = (whole?: string) => (isCms ? scopeWithin(query, whole) : whole);
    redirectToProvider(ctx, place, { state, returnTo, ...atProvider(query, place, narrow) });
  });
}

/** A start by an OAuth request. @see RFC 6749 §4.1.1 */
async function startByOAuth(ctx: Context, query: Query, served: Served, frontEnds: FrontEnds) {
  const { frontEnd, client } = await frontEnds.ofOAuthStart(ctx);
  if (frontEnd === undefined) throw new RelayError('client_unknown');
  ctx.state.frontEnd = frontEnd.name;
  if (!frontEnd.takesOAuth) throw new RelayError('client_unauthorized');
  const place = { ...served, frontEnd };
  const redirectUri = registeredRedirectUri(query, frontEnd.redirectUris);
  const asker = client !== undefined && client.vouchedBy !== 'operator' ? client : undefined;
  // Failures of a client that nobody registered stay here: otherwise, anybody could register an address that the relay
  // redirects to. @see RFC 9700 §4.11.2
  const delivered = <Result>(state: string | undefined, work: () => Result) => {
    const { fail } = frontEnd.deliveryOf({ state, oauth: { redirectUri, codeChallenge: '' } });
    return asker ? work() : answering(fail, work);
  };
  const state = await delivered(undefined, () => frontEndState(query));
  await delivered(state, () => {
    const oauth = oauthRequest(query, place, redirectUri, asker !== undefined);
    const start = { ...oauth, state };
    if (asker === undefined) redirectToProvider(ctx, place, start);
    else askConsent(ctx, place, asker, start);
  });
}

/** @param isOpen whether nobody registered the client, so that a person is asked */
function oauthRequest(query: Query, place: Place, redirectUri: string, isOpen: boolean) {
  const { registration, frontEnd } = place;
  const { kind, client, resources } = frontEnd;
  if (registration.protection === undefined) throw new RelayError('oauth_off');
  const codeChallenge = codeChallengeOf(query);
  const isForProvider = resources.length === 0;
  const resource = kind === 'native' || !isForProvider ? resourceOf(query) : undefined;
  const own = isForProvider ? undefined : findResource(resources, resource);
  const asked =
    own === undefined ? query : { ...query, scope: scopeWithout(query['scope'], own.scope) };
  const narrow = (whole?: string) =>
    isOpen ? scopeWithin(asked, whole) : (narrowedScope(asked, whole) ?? whole);
  const { scope, ...account } = atProvider(query, place, narrow, own);
  // The provider's token stays here if the login is for a resource.
  const hasConsent = isOpen && isForProvider ? (true as const) : undefined;
  const given = { redirectUri, codeChallenge, client, scope, hasConsent };
  return {
    oauth: { ...given, ...(own === undefined ? { resource } : { opens: own.url }) },
    ...account,
  };
}

/** What a start is to ask the provider for. @param narrow gives a part of the configured scope */
function atProvider(
  query: Query,
  { registration, frontEnd }: Place,
  narrow: (whole?: string) => string | undefined,
  resource?: Resource,
) {
  const { provider, scopeWithAccess } = registration.pinned();
  const { scope: whole = provider.scope } = frontEnd;
  const scope = scopeWithAccess(narrow(whole), whole, frontEnd, resource);
  const otherAccount = query['prompt'] === 'select_account';
  return { scope, otherAccount, loginHint: loginHintOf(query) };
}

/**
 * Answers the start of a login with the question whether a client that nobody registered may log in. The question is
 * asked every time: the provider knows only the relay, and would not ask again.
 *
 * @see draft-ietf-oauth-client-id-metadata-document-02 §6, RFC 6819 §5.2.3.2
 */
function askConsent(
  ctx: Context,
  { registration, frontEnd, questions, issuer }: Place,
  client: Client,
  start: FrontEndRequest & { readonly oauth: OAuthRequest },
): void {
  expectNavigation(ctx);
  const { host: provider } = new URL(registration.pinned().provider.authorizeUrl);
  const { state: token } = questions.start(ctx, frontEnd.name, start);
  const { scope, redirectUri, opens } = start.oauth;
  const action = `${issuer}/consent`;
  showQuestion(
    ctx,
    consentPage({
      client,
      redirectUri,
      scope: opens ?? scope,
      learns: frontEnd.resources.find(({ url }) => url === opens)?.identity.claims,
      provider,
      action,
      token,
    }),
  );
}

function showQuestion(ctx: Context, page: string): void {
  ctx.set('Content-Security-Policy', consentPolicy);
  ctx.type = 'html';
  ctx.body = page;
}

/**
 * `POST /auth/<registration>/consent`: the answer of a person to the question whether a client that nobody registered
 * may log in. It counts once, and only in the browser that was asked.
 */
export function consentEndpoint(served: Served): Handler {
  const { frontEnds, questions, issuer } = served;
  const { origin } = new URL(issuer);
  const decide: Handler = async (ctx: Context) => {
    expectOwnPage(ctx, origin);
    const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
    const { consent: token = '', decision, number } = parameters;
    const asked = questions.verify(ctx, token);
    if (asked === undefined) throw new RelayError('state_missing');
    questions.checkAge(ctx, asked);
    const frontEnd = frontEnds.ofLogin(asked);
    if (frontEnd === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    const { oauth } = asked.request;
    // By the script of the page, or by hand.
    const isTyped = decision === 'continue' && number === numberOf(token);
    if (decision === 'continue' && !isTyped && oauth !== undefined) {
      showQuestion(
        ctx,
        confirmationPage({
          ...oauth,
          scope: oauth.opens ?? oauth.scope,
          action: `${issuer}/consent`,
          token,
        }),
      );
      return;
    }
    questions.end(ctx, asked);
    await answering(frontEnd.deliveryOf(asked.request).fail, () => {
      if (decision !== 'confirmed' && !isTyped) throw new RelayError('consent_denied');
    });
    redirectToProvider(ctx, { ...served, frontEnd }, asked.request);
  };
  return inOrder(answerFailures(frontEnds.first.answerInPlace), decide);
}

/** The page sends no referrer, so its form has the origin `null`. */
function expectOwnPage({ req: { headers } }: Context, own: string): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (site !== 'same-origin') throw new RelayError('cross_site_refused');
  if (origin !== undefined && origin !== own && origin !== 'null') {
    throw new RelayError('origin_foreign');
  }
}

/** Redirects to the provider, if need be after the person has consented. */
function redirectToProvider(
  ctx: Context,
  { registration, frontEnd }: Place,
  request: FrontEndRequest,
): void {
  const { protection } = registration;
  const { authorizationRequestUrl, provider } = registration.pinned();
  const { takesOAuth, asksForRefresh } = frontEnd;
  const { oauth, state, returnTo } = request;
  const { scope } = oauth ?? request;
  const isPlain = oauth === undefined && takesOAuth;
  const usual = authorizationRequestUrl({ scope, refresh: asksForRefresh && !isPlain });
  const url = withAccount(usual, request, provider);
  const login = protection?.start(ctx, frontEnd.name, { oauth, state, returnTo });
  const challenge = login && provider.pkce ? codeChallenge(login.codeVerifier) : undefined;
  const nonce = newNonce(scope);
  redirect(ctx, withLoginParameters(url, { state: login?.state, codeChallenge: challenge, nonce }));
}
