import type { BrowserDoor } from '../browsers/browser-door.ts';
import { opensPage } from '../browsers/browser-request.ts';
import { openByCookie } from '../browsers/door-cookies.ts';
import { showLoggedOut } from '../browsers/door-pages.ts';
import { wayBackTo } from '../browsers/way-back.ts';
import { answerWithPage } from '../delivery/failure-page.ts';
import { html, type Markup } from '../delivery/html.ts';
import { RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { AskedRequest } from '../http/forwarded-request.ts';
import { hasResourceToken } from '../oauth/authorization-header.ts';
import { withParameters } from '../oauth/query.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import { createChallenge, recordCaller, requireToken } from './protected-resource.ts';

/** A resource that opens to browsers, with the registration that logs its people in. */
export interface DoorPlace {
  /** The registration at one of its paths. `word` is the last part of the path. */
  readonly served: Served & { readonly word: string };
  readonly door: BrowserDoor;
}

/**
 * Opens the door of a resource to a request: by its token, or else by its cookie. A browser that opens a page without a
 * valid cookie is redirected to the login, and so is a browser whose login is to be renewed.
 *
 * @param findAsked returns the request that is to pass, which a proxy may describe in headers, or throws
 * @returns the person or machine in the token or cookie; undefined if the browser was redirected to the login
 * @throws {RelayError} why the door stays closed
 */
export async function enterDoor(
  place: DoorPlace,
  ctx: Context,
  findAsked: () => AskedRequest,
): Promise<AccessTokenContent | undefined> {
  const { door } = place;
  if (hasResourceToken(ctx.req.headersDistinct['authorization'] ?? [])) {
    const opened = await door.byToken.open(requireToken(ctx));
    recordCaller(ctx, opened);
    return opened;
  }
  const opened = await openByCookie(ctx, findAsked, door);
  const isPage = opensPage(ctx);
  if (opened === undefined && !isPage) throw new RelayError('resource_token_missing');
  const { method, target } = findAsked();
  if (opened === undefined) {
    if (method !== 'GET') throw new RelayError('login_needed');
    // This browser has just logged in, and shows no cookie. Another login would end the same way, and so on forever.
    if (door.logins.hasFinished(ctx)) throw new RelayError('cookie_refused');
    redirectToLogin(ctx, beginLogin(place, ctx, { wayBack: wayBackTo(target, door.origin) }));
    return undefined;
  }
  if (isPage && method === 'GET' && isDueForRenewal(place, ctx, opened)) {
    const { login, sub, preferred_username: name, email } = opened;
    const renewal = { wayBack: wayBackTo(target, door.origin), renews: { login, sub } };
    redirectToLogin(ctx, beginLogin(place, ctx, renewal, { loginHint: email ?? name }));
    return undefined;
  }
  recordCaller(ctx, opened, 'cookie');
  return opened;
}

/**
 * Whether to send the browser to the provider again, which says who the person is and whether they may still log in.
 * While one attempt is under way, the old cookie still works, so that an outage of the provider locks nobody out.
 */
function isDueForRenewal({ door, served }: DoorPlace, ctx: Context, { iat, login }: AccessTokenContent): boolean {
  const { logins, terms } = door;
  const isDue = served.now() >= (iat + terms.renew) * 1000;
  return isDue && !logins.isRenewing(ctx, login) && !logins.hasFinished(ctx);
}

/**
 * Begins a login of a browser at a resource, and sets its cookies.
 *
 * @returns the address at the host of the login where it starts
 */
function beginLogin(
  { served, door }: DoorPlace,
  ctx: Context,
  login: Parameters<BrowserDoor['logins']['begin']>[1],
  { loginHint, prompt }: { readonly loginHint?: string | undefined; readonly prompt?: 'select_account' } = {},
): string {
  const state = door.logins.begin(ctx, login, loginHint);
  const url = `${served.issuer}/door/${door.resource.name}`;
  return withParameters(url, prompt === undefined ? { state } : { state, prompt });
}

function redirectToLogin(ctx: Context, start: string): void {
  ctx.state.startsLogin = true;
  redirectThroughProxy(ctx, start);
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
export function answerAtDoor({ served, door }: DoorPlace): AnswerFailure {
  const challenge = createChallenge(door.resource);
  return (ctx, failure) => {
    challenge(ctx, failure);
    if (!opensPage(ctx)) return;
    // The page would replace the challenge with the header of the failure, which does not say where to log in.
    const authenticate = ctx.response.get('WWW-Authenticate');
    if (failure.code === 'resource_token_missing') showLoggedOut(ctx, served.pages, siteOf(door));
    else answerWithPage(ctx, failure, served.pages, { login: linkOfFailure({ served, door }, ctx, failure) });
    if (authenticate) ctx.set('WWW-Authenticate', authenticate);
  };
}

/** Failures after which another account of the person may be let in. */
const accountRefusals: readonly string[] = ['access_refused', ...refusalsAtProvider];

/** Failures that another login does not repair. */
const notByLogin: readonly string[] = [
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_answer_unusable',
  'streams_full',
  'not_ready',
  'path_refused',
  'upload_too_large',
  'method_not_allowed',
  'websocket_unsupported',
  'request_unknown',
  'not_found',
];

/** The link to what a person can do about a failure. @returns undefined if they can only try again later */
function linkOfFailure(place: DoorPlace, ctx: Context, { code }: RelayError): Markup | undefined {
  const { door, served } = place;
  const { pages } = served;
  if (notByLogin.includes(code)) return undefined;
  // The browser has the cookie, but the proxy does not pass it to the check.
  const isLostByProxy = code === 'cookie_refused' && ctx.state.by === 'cookie';
  if (isLostByProxy || code === 'check_ineffective') {
    return html`<a href="/">${pages.text('go_on', { site: siteOf(door) })}</a>`;
  }
  if (code === 'login_needed') {
    return html`<a href="/" target="_blank" rel="noopener">${pages.text('log_in_elsewhere')}</a>`;
  }
  const isRefusal = accountRefusals.includes(code);
  if (!isRefusal && code !== 'cookie_refused') return html`<a href="/">${pages.text('log_in_again')}</a>`;
  door.logins.forgetFinished(ctx);
  const start = beginLogin(place, ctx, { wayBack: '/' }, isRefusal ? { prompt: 'select_account' } : {});
  return html`<a href="${start}">${pages.text(isRefusal ? 'log_in_otherwise' : 'log_in_again')}</a>`;
}

/** The host of a resource, as people know it. */
export const siteOf = ({ origin }: Pick<BrowserDoor, 'origin'>): string => new URL(origin).host;
