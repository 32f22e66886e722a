import { isNavigation } from '../delivery/failure-page.ts';
import { beginningOf, RelayError } from '../failures/relay-error.ts';
import type { FrontEnds, Served } from '../front-ends/front-ends.ts';
import { type Context, type Handler, readQuery } from '../http/context.ts';
import { answering } from '../http/error-responder.ts';
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
import { exampleOf } from '../origins/origin-pattern.ts';
import { findResource, type Resource } from '../resources/resource.ts';
import { isLoopback } from '../urls.ts';
import { askConsent } from './consent.ts';
import { redirectToProvider, type StartPlace } from './redirect-to-provider.ts';

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
    // Nothing is known of the front end yet.
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
  if (frontEnd === undefined) throw unknownClient(query);
  ctx.state.frontEnd = frontEnd.name;
  const place = { ...served, frontEnd };
  const { cmsBackend, tokenDelivery, origin, answerInPlace } = frontEnd;
  const { provider: backend = cmsBackend } = query;
  const isCms = cmsBackend !== undefined;
  await answering(answerInPlace, () => {
    // The window of a CMS says so itself.
    if (!isCms) expectKnownPage(ctx, place);
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

/**
 * Stops a login that cannot end where its page is, if all are on this machine: only their developers log in. It is at
 * another port, or at 127.0.0.1 for localhost.
 *
 * @param end where an OAuth request says that it ends. A server at another port may have sent the browser here
 * @throws {RelayError} `page_unknown`
 */
function expectKnownPage(ctx: Context, place: StartPlace, end?: unknown): void {
  const { frontEnds, issuer } = place;
  const { origins } = place.frontEnd;
  const page = URL.parse(ctx.get('Referer'));
  const isHere = origins.length > 0 && origins.every((one) => isLoopback(new URL(exampleOf(one))));
  if (page === null || !isHere || !isLoopback(page) || !isNavigation(ctx)) return;
  const { origin } = page;
  if (frontEnds.hasOrigin(origin) || origin === new URL(issuer).origin) return;
  const ofServer = URL.parse(`${end}`);
  if (ofServer && ofServer.port !== page.port && frontEnds.hasOrigin(ofServer.origin)) return;
  const detail = `This login was started by a page at ${origin}, but its front end is ${origins.join(', ')}. Open the page there, or give the relay the origin ${origin}.`;
  throw new RelayError('page_unknown', { detail });
}

/** A start by an OAuth request. @see RFC 6749 §4.1.1 */
async function startByOAuth(ctx: Context, query: Query, served: Served, frontEnds: FrontEnds) {
  const { frontEnd, client } = await frontEnds.ofOAuthStart(ctx);
  if (frontEnd === undefined) throw unknownClient(query);
  ctx.state.frontEnd = frontEnd.name;
  if (!frontEnd.takesOAuth) throw new RelayError('client_unauthorized');
  const place = { ...served, frontEnd };
  if (frontEnd.kind === 'page') expectKnownPage(ctx, place, query['redirect_uri']);
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
function oauthRequest(query: Query, place: StartPlace, redirectUri: string, isOpen: boolean) {
  const { registration, frontEnd } = place;
  const { kind, client, resources } = frontEnd;
  if (registration.protection === undefined) throw new RelayError('oauth_off');
  const codeChallenge = codeChallengeOf(query);
  const isForProvider = resources.length === 0;
  const asked = kind === 'native' || !isForProvider ? resourceOf(query) : undefined;
  const own = isForProvider ? undefined : findResource(resources, asked);
  const forProvider =
    own === undefined ? query : { ...query, scope: scopeWithout(query['scope'], own.scope) };
  const narrow = (whole?: string) =>
    isOpen ? scopeWithin(forProvider, whole) : (narrowedScope(forProvider, whole) ?? whole);
  const { scope, ...account } = atProvider(query, place, narrow, own);
  // The provider's token stays here if the login is for a resource.
  const hasConsent = isOpen && isForProvider ? (true as const) : undefined;
  const given = { redirectUri, codeChallenge, client, scope, hasConsent };
  return {
    oauth: {
      ...given,
      ...(own === undefined ? { providerResource: asked } : { ownResource: own.url }),
    },
    ...account,
  };
}

/** What a start is to ask the provider for. @param narrow gives a part of the configured scope */
function atProvider(
  query: Query,
  { registration, frontEnd }: StartPlace,
  narrow: (whole?: string) => string | undefined,
  resource?: Resource,
) {
  const { provider, scopeWithAccess } = registration.current();
  const { scope: whole = provider.scope } = frontEnd;
  const scope = scopeWithAccess(narrow(whole), whole, frontEnd, resource);
  const otherAccount = query['prompt'] === 'select_account';
  return { scope, otherAccount, loginHint: loginHintOf(query) };
}

const unknownClient = ({ client_id: asked }: Query) =>
  new RelayError('client_unknown', { asked: beginningOf(asked) });
