import type { BrowserDoor } from '../browsers/browser-door.ts';
import { isOfForeignPage, opensPage } from '../browsers/browser-request.ts';
import { wayBackTo } from '../browsers/way-back.ts';
import { answerWithPage } from '../delivery/failure-page.ts';
import { html, type Markup } from '../delivery/html.ts';
import { isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import type { Served } from '../front-ends/front-ends.ts';
import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { AskedRequest } from '../http/forwarded-request.ts';
import { parseResourceToken } from '../oauth/authorization-header.ts';
import { withParameters } from '../oauth/query.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import { createChallenge, recordCaller, requireToken } from './protected-resource.ts';

/** A resource that opens to browsers, with the registration whose people it knows. */
export interface DoorPlace {
  /** With the word of its path. */
  readonly served: Served & { readonly word: string };
  readonly door: BrowserDoor;
}

/**
 * Opens the door of a resource to a request: by its token, or else by its cookie. A browser that opens a page without a
 * valid cookie is sent to the login.
 *
 * @param findAsked gives the request that is to pass, which a proxy may describe in headers, or throws
 * @returns whom the door has opened to; undefined if the browser is sent to the login
 * @throws {RelayError} why the door stays closed
 */
export async function enterDoor(
  place: DoorPlace,
  ctx: Context,
  findAsked: () => AskedRequest,
): Promise<AccessTokenContent | undefined> {
  const { door } = place;
  if (hasToken(ctx)) {
    const opened = await door.byToken.open(requireToken(ctx));
    recordCaller(ctx, opened);
    return opened;
  }
  const opened = await openByCookie(ctx, findAsked, door);
  const isPage = opensPage(ctx);
  if (opened === undefined && !isPage) throw new RelayError('resource_token_missing');
  const { method, target } = findAsked();
  const wayBack = wayBackTo(target, door.origin);
  if (opened === undefined) {
    if (method !== 'GET') throw new RelayError('login_needed');
    // A login has just finished here. Another one would end the same way, and so on forever.
    if (door.logins.hasFinished(ctx)) throw new RelayError('cookie_refused');
    redirectThroughProxy(ctx, beginLogin(place, ctx, { wayBack }));
    return undefined;
  }
  if (isPage && method === 'GET' && isDueForRenewal(place, ctx, opened)) {
    const { login, sub, preferred_username: name, email } = opened;
    redirectThroughProxy(
      ctx,
      beginLogin(place, ctx, { wayBack, renews: { login, sub } }, { loginHint: email ?? name }),
    );
    return undefined;
  }
  recordCaller(ctx, opened, 'cookie');
  return opened;
}

/**
 * Whether a request has a token, or something meant as one. Other schemes of `Authorization` belong to the application.
 */
function hasToken({ req }: Context): boolean {
  try {
    parseResourceToken(req.headersDistinct['authorization'] ?? []);
    return true;
  } catch (error) {
    return !isFailure(error, 'resource_token_missing');
  }
}

/**
 * What the cookie of a request holds, if the door opens to it.
 *
 * @returns undefined: there is no good cookie
 * @throws {RelayError} `foreign_page_refused`, before the cookie is opened
 */
export async function openByCookie(
  ctx: Context,
  findAsked: () => Pick<AskedRequest, 'method'>,
  { origin, cookies, byCookie }: BrowserDoor,
): Promise<AccessTokenContent | undefined> {
  const cookie = cookies.get(ctx);
  if (cookie === undefined) return undefined;
  if (isOfForeignPage(ctx, findAsked().method, origin)) throw new RelayError('foreign_page_refused');
  try {
    return await byCookie.open(cookie);
  } catch (error) {
    if (isFailure(error, 'resource_token_invalid', 'resource_token_expired')) return undefined;
    throw error;
  }
}

/**
 * Whether to ask the provider again who the person is. While an attempt is under way, the old cookie still works, so
 * that an outage of the provider locks nobody out.
 */
function isDueForRenewal({ door, served }: DoorPlace, ctx: Context, { iat, login }: AccessTokenContent): boolean {
  const { logins, terms } = door;
  const isDue = served.now() >= (iat + terms.renew) * 1000;
  return isDue && !logins.isRenewing(ctx, login) && !logins.hasFinished(ctx);
}

/**
 * Begins a login of a browser at a resource: sets its cookie.
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

/** 302 instead of 307, because some reverse proxies pass on only a 302 of a check. */
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
    const told = ctx.response.get('WWW-Authenticate');
    answerWithPage(ctx, failure, served.pages, { login: linkOfFailure({ served, door }, ctx, failure) });
    if (told) ctx.set('WWW-Authenticate', told);
  };
}

const otherAccount: readonly string[] = ['access_refused', ...refusalsAtProvider];

/** Failures that another login does not change. */
const ofServer: readonly string[] = [
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

/** What a person can do about a failure. @returns undefined if they can only try again later */
function linkOfFailure(place: DoorPlace, ctx: Context, { code }: RelayError): Markup | undefined {
  const { pages } = place.served;
  if (ofServer.includes(code)) return undefined;
  // The browser sends the cookie here, so the proxy does not pass it to the check.
  const isSeen = code === 'cookie_refused' && ctx.state.by === 'cookie';
  if (isSeen || code === 'check_ineffective')
    return html`<a href="/">${pages.text('go_on', { site: siteOf(place.door) })}</a>`;
  if (code === 'login_needed') {
    return html`<a href="/" target="_blank" rel="noopener">${pages.text('log_in_elsewhere')}</a>`;
  }
  const isOther = otherAccount.includes(code);
  if (!isOther && code !== 'cookie_refused') return html`<a href="/">${pages.text('log_in_again')}</a>`;
  place.door.logins.forgetFinished(ctx);
  const start = beginLogin(place, ctx, { wayBack: '/' }, isOther ? { prompt: 'select_account' } : {});
  return html`<a href="${start}">${pages.text(isOther ? 'log_in_otherwise' : 'log_in_again')}</a>`;
}

/** The host of a resource, as people know it. */
export const siteOf = ({ origin }: Pick<BrowserDoor, 'origin'>): string => new URL(origin).host;
