import { isNavigation } from '../delivery/failure-page.ts';
import { abbreviateInput, RelayError } from '../failures/relay-error.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';
import type { FrontEnds, Served } from '../front-ends/front-ends.ts';
import { type Context, type Handler, readQuery } from '../http/context.ts';
import { withFailureAnswer } from '../http/error-responder.ts';
import type { Query } from '../oauth/query.ts';
import { narrowScope, scopeWithin, scopeWithout } from '../oauth/scope.ts';
import {
  isOAuthRequest,
  readFrontEndState,
  readLoginHint,
  readResource,
  readReturnTo,
  requireCodeChallenge,
  requireRedirectUri,
} from '../oauth/start-parameters.ts';
import { exampleOrigin } from '../origins/origin-pattern.ts';
import { actsAtProvider, type Resource, requireResource } from '../resources/resource.ts';
import { isLoopback } from '../urls.ts';
import { machineDetail } from './authenticate-machine.ts';
import { askConsent } from './consent.ts';
import { redirectToProvider, type StartPlace } from './redirect-to-provider.ts';

/**
 * `GET /auth/<registration>`, `GET /auth/<registration>/<front end>` and, for CMSes, `GET /auth`: redirects the browser
 * to the provider.
 *
 * @param frontEnds the front ends that may start a login at this address
 */
export function startLogin(served: Served, frontEnds: FrontEnds): Handler {
  return async (ctx: Context) => {
    const query = readQuery(ctx);
    if (!isNavigation(ctx)) ctx.state.isProbe = true;
    if (isOAuthRequest(query)) {
      // Until a redirect URI is known to belong to the front end, the relay itself shows failures.
      const { answerInPlace } = served.frontEnds.first;
      await withFailureAnswer(answerInPlace, () => startByOAuth(ctx, query, served, frontEnds));
    } else {
      await startPlainly(ctx, query, served, frontEnds);
    }
  };
}

/**
 * Starts a login without PKCE. The contract knows only one parameter besides the front end, which is the front end's
 * own state. A CMS sends a scope instead.
 *
 * The relay itself shows failures until the page is known to belong to the front end. Then failures go to the front
 * end, with its state once that is read.
 */
async function startPlainly(ctx: Context, query: Query, served: Served, frontEnds: FrontEnds) {
  const frontEnd = frontEnds.findForPlainStart(ctx);
  if (frontEnd === undefined) throw unknownClient(query);
  ctx.state.frontEnd = frontEnd.name;
  expectPeople(frontEnd);
  const place = { ...served, frontEnd };
  const { cmsBackend, tokenDelivery, origin, answerInPlace } = frontEnd;
  const { provider: backend = cmsBackend } = query;
  const isCms = cmsBackend !== undefined;
  await withFailureAnswer(answerInPlace, () => {
    // For a CMS, the relay's page in the popup finds out whether a page of the CMS opened it, and tells the person if not.
    if (!isCms) expectKnownPage(ctx, place);
    // A CMS ignores messages without the name of its backend.
    if (isCms && backend !== cmsBackend) throw new RelayError('cms_backend_wrong');
  });
  const state = await withFailureAnswer(frontEnd.deliveryOf().fail, () => {
    if (tokenDelivery === 'code') throw new RelayError('pkce_required');
    // The relay returns no state to a CMS, and without the state check to no front end.
    return served.registration.protection && !isCms ? readFrontEndState(query) : undefined;
  });
  await withFailureAnswer(frontEnd.deliveryOf({ state }).fail, () => {
    const returnTo = tokenDelivery === 'session' ? readReturnTo(query, origin) : undefined;
    const whole = configuredScope(place);
    const scope = scopeToRequest(place, isCms ? scopeWithin(query, whole) : whole);
    redirectToProvider(ctx, place, { state, returnTo, scope, ...readAccountWish(query) });
  });
}

/** @throws {RelayError} `client_unauthorized` for a machine */
function expectPeople({ kind }: FrontEnd): void {
  if (kind === 'machine') throw new RelayError('client_unauthorized', { detail: machineDetail });
}

/**
 * Stops a developer's login that could not return to its page: the configured front end and the page are both on this
 * machine, but at different ports or names (`localhost`, `127.0.0.1`).
 *
 * @param redirectUri the redirect URI of an OAuth request, which may be of a server at another port than the page
 * @throws {RelayError} `page_unknown`
 */
function expectKnownPage(ctx: Context, place: StartPlace, redirectUri?: unknown): void {
  const { frontEnds, issuer } = place;
  const { origins } = place.frontEnd;
  const page = URL.parse(ctx.get('Referer'));
  const isFrontEndHere = origins.length > 0 && origins.every((one) => isLoopback(new URL(exampleOrigin(one))));
  if (page === null || !isFrontEndHere || !isLoopback(page) || !isNavigation(ctx)) return;
  const { origin } = page;
  if (frontEnds.hasOrigin(origin) || origin === new URL(issuer).origin) return;
  const server = URL.parse(`${redirectUri}`);
  if (server && server.port !== page.port && frontEnds.hasOrigin(server.origin)) return;
  const detail = `This login was started by a page at ${origin}, but its front end is ${origins.join(', ')}. Open the page there, or give the relay the origin ${origin}.`;
  throw new RelayError('page_unknown', { detail });
}

/**
 * Starts a login by an OAuth request. Once the redirect URI is known to belong to the front end, failures go there,
 * with the state once that is read. The relay itself shows the failures of unregistered clients, because anybody can
 * register a client, and redirects to it would make the relay an open redirector.
 *
 * @see RFC 6749 §4.1.1, RFC 9700 §4.11.2
 */
async function startByOAuth(ctx: Context, query: Query, served: Served, frontEnds: FrontEnds) {
  const { frontEnd, client } = await frontEnds.findForOAuthStart(ctx);
  if (frontEnd === undefined) throw unknownClient(query);
  ctx.state.frontEnd = frontEnd.name;
  expectPeople(frontEnd);
  if (!frontEnd.takesOAuth) throw new RelayError('client_unauthorized');
  const place = { ...served, frontEnd };
  if (frontEnd.kind === 'page') expectKnownPage(ctx, place, query['redirect_uri']);
  const redirectUri = requireRedirectUri(query, frontEnd.redirectUris);
  // The operator vouches for clients with an identifier that was made with a client key, so the relay asks no person
  // about them.
  const openClient = client?.vouchedBy === 'operator' ? undefined : client;
  /** Does a part of the start, whose failures go to the redirect URI unless the client is unregistered. */
  const withFailuresAtClient = <Result>(state: string | undefined, work: () => Result) => {
    // The delivery of a failure does not need the challenge, which is not read yet.
    const { fail } = frontEnd.deliveryOf({ state, oauth: { redirectUri, codeChallenge: '' } });
    return openClient ? work() : withFailureAnswer(fail, work);
  };
  const state = await withFailuresAtClient(undefined, () => readFrontEndState(query));
  await withFailuresAtClient(state, () => {
    const request = readOAuthRequest(query, place, redirectUri, openClient !== undefined);
    const start = { ...request, state };
    if (openClient === undefined) redirectToProvider(ctx, place, start);
    else askConsent(ctx, place, openClient, start);
  });
}

/**
 * Reads and validates an OAuth request.
 *
 * @param isOpen whether the client is unregistered, so that the person is asked
 */
function readOAuthRequest(query: Query, place: StartPlace, redirectUri: string, isOpen: boolean) {
  const { registration, frontEnd } = place;
  if (registration.protection === undefined) throw new RelayError('oauth_off');
  const codeChallenge = requireCodeChallenge(query);
  const { resource, named } = readRequestedResource(query, frontEnd);
  const scope = scopeToRequest(place, requestedScope(query, place, isOpen, resource), resource);
  // The question shows the scope only if the client can act with the provider's token, itself or through a resource.
  const isScopeShown = resource === undefined || actsAtProvider(resource);
  const oauth = {
    redirectUri,
    codeChallenge,
    client: frontEnd.client,
    scope,
    hasConsent: isOpen && isScopeShown ? (true as const) : undefined,
    ownResource: resource?.url,
    providerResource: resource === undefined ? named : undefined,
  };
  return { oauth, ...readAccountWish(query) };
}

/**
 * Reads the parameter `resource` of an OAuth request.
 *
 * @returns `resource`, which the login is for, unless it is for the provider's API; and `named`, the parameter itself
 * @throws {RelayError} `resource_refused`
 */
function readRequestedResource(query: Query, { kind, resources }: FrontEnd) {
  const isForProvider = resources.length === 0;
  // For a page without resources, `resource` is the provider's parameter, and may have any value.
  const named = isForProvider && kind !== 'native' ? undefined : readResource(query);
  const resource = isForProvider ? undefined : requireResource(resources, named);
  return { resource, named };
}

/** The part of the configured scope that an OAuth request asks for. */
function requestedScope(query: Query, place: StartPlace, isOpen: boolean, resource: Resource | undefined) {
  const whole = configuredScope(place);
  // The provider does not know the words of a resource's scope.
  const asked = resource ? { ...query, scope: scopeWithout(query['scope'], resource.scope) } : query;
  // A program requests scopes that it knows from other servers, and gets as much of them as it may have. A page is
  // written for this relay, so it is refused if it requests too much.
  const isLenient = isOpen || place.frontEnd.kind === 'native' || resource !== undefined;
  return isLenient ? scopeWithin(asked, whole) : (narrowScope(asked, whole) ?? whole);
}

function configuredScope({ registration, frontEnd }: StartPlace): string | undefined {
  const { provider } = registration.current();
  return frontEnd.scope ?? provider.scope;
}

/**
 * Adds to a part of the configured scope the words that the questions about the person need.
 *
 * @param part undefined if the provider decides which scope it grants
 */
function scopeToRequest(place: StartPlace, part: string | undefined, resource?: Resource): string | undefined {
  const { registration, frontEnd } = place;
  return registration.current().scopeWithAccess(part, configuredScope(place), frontEnd, resource);
}

/** Reads which account the person wants to use. */
function readAccountWish(query: Query) {
  return { otherAccount: query['prompt'] === 'select_account', loginHint: readLoginHint(query) };
}

const unknownClient = ({ client_id: asked }: Query) =>
  new RelayError('client_unknown', { asked: abbreviateInput(asked) });
