import { type DoorHost, type DoorPlace, findPlace } from '../browsers/browser-door.ts';
import { mayComeFromForeignPage } from '../browsers/browser-request.ts';
import { openByCookie } from '../browsers/door-cookies.ts';
import type { DoorLogin } from '../browsers/door-logins.ts';
import { showChoice } from '../browsers/door-pages.ts';
import { clockSkew } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { readBody } from '../http/body.ts';
import { type Context, type Handler, readQuery } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { expectNavigation } from '../http/request-guards.ts';
import { parseEndpointParameters } from '../oauth/endpoint-parameters.ts';
import { readSingle } from '../oauth/query.ts';
import { choiceAddress, loginStartAddress, type OtherAccount, redirectThroughProxy, siteOf } from './enter-door.ts';
import { recordCaller } from './protected-resource.ts';

/**
 * `/.login-relay/choose` at the host of a resource: GET lets a person choose the provider of their login, POST starts
 * the login there.
 *
 * GET starts nothing as long as there is a choice, so a page that links here changes nothing. `state` names the login
 * that began when the browser opened a page, and with it the way back. A `state` of no such login is ignored.
 */
export function chooseProvider(host: DoorHost): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = host.resource.name;
    expectNavigation(ctx);
    if (ctx.method === 'POST') await startChosen(host, ctx);
    else await askForChoice(host, ctx);
  };
}

/** Shows the page to choose. With a single provider, or after a login in another tab, it redirects instead. */
async function askForChoice(host: DoorHost, ctx: Context): Promise<void> {
  const { cookies, logins, origin, pages, places } = host;
  const query = readQuery(ctx);
  const state = readSingle(query['state']);
  const prompt = readPrompt(query['prompt']);
  const login = state === undefined ? undefined : logins.find(ctx, state);
  const [only, another] = places;
  if (another === undefined && prompt !== undefined) {
    startAt(only, host, ctx, state, prompt);
    return;
  }
  // Another tab has logged in, or a reload has left only one provider. Then the page itself starts the login.
  if (another === undefined || (prompt === undefined && (await recordIfLoggedIn(host, ctx, login)))) {
    redirectThroughProxy(ctx, origin + (login?.wayBack ?? '/'));
    return;
  }
  const providers = places.map(({ served: { registration, title } }) => ({ name: registration.name, title }));
  // The form sends these back, so that the choice continues the same login.
  const kept = { ...(login && state && { state }), ...(prompt && { prompt }) };
  showChoice(ctx, pages, { site: siteOf(host), kept, providers, last: cookies.lastChoice(ctx) });
}

/**
 * Finds out whether this browser is logged in here, and records who the person is.
 *
 * @param login the login that brought the browser here
 * @throws {RelayError} `cookie_refused` if it was logged in before that login began. Then the proxy does not show the
 *   cookie to the check, and would send the browser here forever; `check_ineffective` if that happens and the proxy does
 *   not pass on the cookies of the check either
 */
async function recordIfLoggedIn(host: DoorHost, ctx: Context, login: DoorLogin | undefined): Promise<boolean> {
  const entered = await openByCookie(ctx, host);
  if (entered === undefined) return false;
  recordCaller(ctx, entered, 'cookie');
  if (login === undefined) {
    if (host.cookies.markReturned(ctx)) throw new RelayError('check_ineffective');
    return true;
  }
  // Another relay may have issued the cookie, and its clock may differ. `hasFinished` knows cookies of the last minute
  // to the millisecond.
  const isOlder = (entered.opened.iat + clockSkew) * 1000 <= login.at || host.logins.hasFinished(ctx, login.at);
  if (isOlder) throw new RelayError('cookie_refused');
  return true;
}

/** Starts the login at the provider in the form. */
async function startChosen(host: DoorHost, ctx: Context): Promise<void> {
  const { cookies, logins, origin } = host;
  if (mayComeFromForeignPage(ctx, 'POST', origin)) throw new RelayError('foreign_page_refused');
  const parameters = parseEndpointParameters(ctx.req.headers, await readBody(ctx));
  const { provider, state = '' } = parameters;
  const prompt = readPrompt(parameters.prompt);
  const place = findPlace(host, provider);
  // A reload has taken the provider away since the page was shown, or somebody has made this name up.
  if (place === undefined) {
    redirect(ctx, choiceAddress(host, logins.find(ctx, state) === undefined ? undefined : state, prompt));
    return;
  }
  cookies.rememberChoice(ctx, place.served.registration.name);
  startAt(place, host, ctx, state, prompt);
}

/** Starts the login that the person asks for. @param state the state of the login that brought the browser here */
function startAt(place: DoorPlace, { logins }: DoorHost, ctx: Context, state = '', prompt: OtherAccount): void {
  ctx.state.registration = place.served.registration.name;
  // Otherwise, somebody who has just logged in with another account would be told that the cookie is missing.
  logins.forgetFinished(ctx);
  redirect(ctx, loginStartAddress(place, logins.continueOrBegin(ctx, state), { prompt }));
}

export const readPrompt = (given: unknown): OtherAccount => (given === 'select_account' ? given : undefined);
