import { type DoorHost, type DoorPlace, findPlace } from '../browsers/browser-door.ts';
import { isFromOwnPage, mayComeFromForeignPage, opensOwnFrame, opensPage } from '../browsers/browser-request.ts';
import { openByCookie } from '../browsers/door-cookies.ts';
import { showLoggedOut, showWayToLogin } from '../browsers/door-pages.ts';
import { findWayBack, isPlainRelayPath, wayBackTo } from '../browsers/way-back.ts';
import { answerWithPage, notByLogin } from '../delivery/failure-page.ts';
import { html, type Markup } from '../delivery/html.ts';
import type { Pages } from '../delivery/pages.ts';
import { type FailureCode, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { AskedRequest } from '../http/forwarded-request.ts';
import { hasResourceToken } from '../oauth/authorization-header.ts';
import { optionalParameter, withParameters } from '../oauth/query.ts';
import { doorPaths } from '../paths.ts';
import { type Entered, enter } from '../resources/door.ts';
import { createChallengeAnswer, recordCaller, requireToken } from './protected-resource.ts';

/**
 * Opens a door of a resource to a request: by its token, or else by its cookie. A browser that opens a page without a
 * valid cookie is sent to the login, or to the choice of its provider if there are several. A browser whose login is to
 * be renewed is sent to the login at the same provider.
 *
 * @param requireAsked returns the request that is to pass, which a proxy may describe in headers, or throws
 * @returns the door with the person or machine in the token or cookie; undefined if the browser was sent to the login
 * @throws {RelayError} why the door stays closed
 */
export async function enterDoor(
  host: DoorHost,
  ctx: Context,
  requireAsked: () => AskedRequest,
): Promise<Entered | undefined> {
  const { logins, origin } = host;
  if (hasResourceToken(ctx.req.headersDistinct['authorization'] ?? [])) {
    const entered = await enter(host.byToken, requireToken(ctx));
    recordCaller(ctx, entered);
    return entered;
  }
  const entered = await openByCookie(ctx, host, requireAsked);
  const isPage = opensPage(ctx);
  if (entered === undefined && !isPage) throw new RelayError('resource_token_missing');
  const { method, target } = requireAsked();
  if (entered === undefined) {
    // With a login, this request would be refused as well. So it is useless to log in and send it again.
    if (mayComeFromForeignPage(ctx, method, origin)) throw new RelayError('foreign_page_refused');
    if (method !== 'GET') throw new RelayError('login_needed');
    // The proxy asks about the relay's own paths, most likely about the callback of a login. Another login would end
    // here again.
    if (isPlainRelayPath(target)) throw new RelayError('relay_paths_checked');
    // This browser has just logged in, and shows no cookie that opens the door. Another login would end the same way,
    // and so on forever.
    if (logins.hasFinished(ctx)) throw describeLostCookie(host, ctx);
    sendToLogin(host, ctx, { state: logins.begin(ctx, { wayBack: wayBackTo(target, origin) }) });
    return undefined;
  }
  const mayRenew = isPage && method === 'GET' && !isPlainRelayPath(target) && !isPartial(ctx);
  // `findWayBack` finds no way back if the query is too long to be kept. Then the login is not renewed here, because the
  // query may be the answer of another server or the state of the page, and would be lost.
  const wayBack = mayRenew ? findWayBack(target, origin) : undefined;
  if (wayBack !== undefined && isDueForRenewal(host, ctx, entered)) {
    const state = logins.begin(ctx, { wayBack, renews: entered.opened.login });
    sendToLogin(host, ctx, { state, renewed: entered });
    return undefined;
  }
  recordCaller(ctx, entered, 'cookie');
  return entered;
}

/**
 * Creates the failure of a browser that has logged in, but shows no cookie that opens the door. If it shows a cookie,
 * another relay has set it with another key, or a reload has changed who is allowed.
 */
export const describeLostCookie = ({ cookies }: DoorHost, ctx: Context): RelayError =>
  new RelayError(cookies.get(ctx) === undefined ? 'cookie_refused' : 'cookie_unaccepted');

/**
 * Whether a request asks for a part of a file. Browsers ask so for the rest of a download or of a PDF, with the other
 * headers of the page, and take the answer to the login for the file.
 */
const isPartial = (ctx: Context): boolean => ctx.get('Range') !== '';

/**
 * Whether to send the browser to the provider again, which says who the person is and whether they may still log in.
 * While one attempt is under way, the old cookie still works, so that an outage of the provider locks nobody out.
 */
function isDueForRenewal({ logins, terms, now }: DoorHost, ctx: Context, { opened: { iat, login } }: Entered): boolean {
  const isDue = now() >= (iat + terms.renew) * 1000;
  return isDue && !logins.isRenewing(ctx, login) && !logins.hasFinished(ctx);
}

/** Asks the provider to let the person choose another account there. */
export type OtherAccount = 'select_account' | undefined;

/** A login that a browser has begun. */
interface BegunLogin {
  readonly state: string;
  /** The cookie with the login that this one renews. */
  readonly renewed?: Entered | undefined;
  readonly prompt?: OtherAccount;
}

/** The address where a login starts that has begun, or where the person chooses its provider. */
export function addressOfLogin(host: DoorHost, { state, renewed, prompt }: BegunLogin): string {
  const [first, another] = host.places;
  if (renewed !== undefined) {
    const { preferred_username: name, email } = renewed.opened;
    // Each door of the host has a place, so `first` only satisfies the type.
    const place = findPlace(host, renewed.door.resource.registration) ?? first;
    return loginStartAddress(place, state, { loginHint: email ?? name });
  }
  return another === undefined ? loginStartAddress(first, state, { prompt }) : choiceAddress(host, state, prompt);
}

/**
 * The address that leads a page at the host of a resource to `addressOfLogin`. Such a page must not contain that address,
 * because its ticket would tell a script of the application how to end a login of an attacker in this browser (login
 * CSRF): the attacker logs in with the ticket, and the script opens the callback that results.
 */
const linkToLogin = ({ origin }: DoorHost, { state, prompt }: BegunLogin): string =>
  withStateAndPrompt(origin + doorPaths.login, state, prompt);

/**
 * The address on the relay's own host where a login that has begun is sent on to the provider, with its ticket. Its path
 * is `doorStartPath`.
 */
export function loginStartAddress(
  { served, door }: DoorPlace,
  challenge: string,
  { loginHint, prompt }: { readonly loginHint?: string | undefined; readonly prompt?: OtherAccount },
): string {
  const ticket = door.tickets.issue(challenge, loginHint);
  return withStateAndPrompt(`${served.issuer}/door/${door.resource.name}`, ticket, prompt);
}

/** The address where a person chooses the provider. @param state the state of a login that has begun */
export const choiceAddress = ({ origin }: DoorHost, state: string | undefined, prompt: OtherAccount): string =>
  withStateAndPrompt(origin + doorPaths.choose, state, prompt);

function withStateAndPrompt(url: string, state: string | undefined, prompt: OtherAccount): string {
  const parameters = [...optionalParameter('state', state), ...optionalParameter('prompt', prompt)];
  return parameters.length === 0 ? url : withParameters(url, parameters);
}

/** Sends a browser to a login, by a redirect or by a page (see `showWayToLogin`). */
function sendToLogin(host: DoorHost, ctx: Context, login: BegunLogin): void {
  ctx.state.startsLogin = true;
  if (!isFromOwnPage(ctx)) {
    redirectThroughProxy(ctx, addressOfLogin(host, login));
    return;
  }
  // A reverse proxy would take a 200 of the check for the permission to let the request pass.
  ctx.status = 401;
  const isRenewal = login.renewed !== undefined;
  showWayToLogin(ctx, host.pages, { site: siteOf(host), address: linkToLogin(host, login), isRenewal });
}

/** Redirects by 302 instead of 307, because some reverse proxies pass on only a 302 of a check. */
export function redirectThroughProxy(ctx: Context, target: string): void {
  ctx.body = null;
  ctx.status = 302;
  ctx.set('Location', target);
}

/**
 * Answers failures at a resource: with a page if the browser would show it, otherwise with the challenge for programs.
 */
export function answerAtDoor(host: DoorHost): AnswerFailure {
  const answerProgram = createChallengeAnswer(host.resource);
  return (ctx, failure) => {
    answerProgram(ctx, failure);
    const isLoggedOut = failure.code === 'resource_token_missing';
    const isFramed = isLoggedOut && opensOwnFrame(ctx);
    if (!opensPage(ctx) && !isFramed) return;
    // The page would replace the challenge with the header of the failure, which does not say where to log in.
    const authenticate = ctx.response.get('WWW-Authenticate');
    if (isLoggedOut) showLoggedOut(ctx, host.pages, siteOf(host), isFramed);
    else answerWithPage(ctx, failure, host.pages, { login: createLinkForFailure(host, ctx, failure) });
    if (authenticate) ctx.set('WWW-Authenticate', authenticate);
  };
}

/** Answers the start of a login at a registration that no longer serves the resource, with a link to the resource. */
export function answerWithWayToResource({ origin, pages }: DoorHost): AnswerFailure {
  const login = html`<a href="${origin}/">${pages.text('log_in_again')}</a>`;
  return (ctx, failure) => answerWithPage(ctx, failure, pages, { login });
}

/** Answers below `/.login-relay/` where nothing is: with a page if a browser would show it, otherwise with JSON. */
export function answerWhereNothingIs(pages: Pages): AnswerFailure {
  return (ctx, failure) => {
    if (opensPage(ctx)) answerWithPage(ctx, failure, pages);
    else answerJson(ctx, failure);
  };
}

/** Failures after which another account of the person may be let in. */
const accountRefusals: readonly FailureCode[] = ['access_refused', ...refusalsAtProvider];

/** Failures of a browser that has just logged in, so that a page would not begin another login by itself. */
const lostCookies: readonly FailureCode[] = ['cookie_refused', 'cookie_unaccepted'];

/** Failures at a resource, besides `notByLogin`, after which the page has no link. The person can only try again later. */
const tryAgainLater: readonly FailureCode[] = [
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_answer_unusable',
  'streams_full',
  'not_ready',
  'path_refused',
  'upload_too_large',
  'request_timeout',
  'method_not_allowed',
  'websocket_unsupported',
  'request_unknown',
  'relay_paths_checked',
];

/**
 * Creates the link to what a person can do about a failure. If that is another login, it begins here, and its cookies
 * are set.
 *
 * @returns undefined if the person can only try again later
 */
function createLinkForFailure(host: DoorHost, ctx: Context, { code }: RelayError): Markup | undefined {
  const { logins, pages } = host;
  if (notByLogin.has(code) || tryAgainLater.includes(code)) return undefined;
  // The browser has the cookie, but the proxy does not pass it to the check.
  const isLostByProxy = code === 'cookie_refused' && ctx.state.by === 'cookie';
  if (isLostByProxy || code === 'check_ineffective' || code === 'foreign_page_refused') {
    return html`<a href="/">${pages.text('go_on', { site: siteOf(host) })}</a>`;
  }
  if (code === 'login_needed') {
    return html`<a href="/" target="_blank" rel="noopener">${pages.text('log_in_elsewhere')}</a>`;
  }
  const isRefusal = accountRefusals.includes(code);
  if (!isRefusal && !lostCookies.includes(code)) return html`<a href="/">${pages.text('log_in_again')}</a>`;
  logins.forgetFinished(ctx);
  const state = logins.begin(ctx, { wayBack: '/' });
  const link = linkToLogin(host, { state, prompt: isRefusal ? 'select_account' : undefined });
  return html`<a href="${link}">${pages.text(isRefusal ? 'log_in_otherwise' : 'log_in_again')}</a>`;
}

/** The host of a resource, as people know it. */
export const siteOf = ({ origin }: Pick<DoorHost, 'origin'>): string => new URL(origin).host;
