import { type DoorHost, type DoorPlace, openEvenIfEnded } from '../browsers/browser-door.ts';
import { openByCookie } from '../browsers/door-cookies.ts';
import {
  type FailureCode,
  isFailure,
  RelayError,
  refusalsAtProvider,
  undefinedIfFailed,
} from '../failures/relay-error.ts';
import { type Context, type Handler, readQuery, truncatedQuery } from '../http/context.ts';
import { expectNavigation, expectNoFrame } from '../http/request-guards.ts';
import { readSingle, withParameters } from '../oauth/query.ts';
import { doorPaths } from '../paths.ts';
import { longestBrowserLifetime } from '../resources/resource.ts';
import { describeLostCookie, redirectThroughProxy } from './enter-door.ts';
import type { EndpointRequest } from './front-end-endpoint.ts';
import type { Granted } from './granted-token.ts';
import { recordCaller } from './protected-resource.ts';
import { hashRedemption, redeemCode } from './redeem-code.ts';
import { redirectToProvider } from './redirect-to-provider.ts';

/**
 * `GET /auth/<registration>/door/<resource>?state=<ticket>`: starts the login of a browser at a resource, with a ticket
 * that the relay sealed for this door.
 */
export function startAtDoor({ served, door }: DoorPlace): Handler {
  return (ctx: Context) => {
    const { client, tickets, resource } = door;
    ctx.state.resource = resource.name;
    ctx.state.registration = resource.registration;
    // Otherwise, a script of the application could open this address in a window, make the callback fail with cookies
    // that are too large, and read its unspent code from the address of the window.
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
    expectNavigation(ctx);
    const { state, prompt } = readQuery(ctx);
    const { challenge, loginHint } = tickets.open(state);
    const { scope } = served.registration.current().provider;
    const otherAccount = prompt === 'select_account';
    redirectToProvider(ctx, { ...served, frontEnd: client }, { door: challenge, scope, otherAccount, loginHint });
  };
}

/**
 * `GET /.login-relay/callback` at the host of a resource: ends the login of a browser in two requests. The first
 * request redeems the code within this process, without an HTTP call to the token endpoint, and sets the cookie. The
 * second one checks that the browser kept the cookie before it returns to the page. Otherwise, a browser without
 * cookies would be sent to the login forever.
 */
export function doorCallback(host: DoorHost): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = host.resource.name;
    expectNoFrame(ctx);
    const query = readQuery(ctx);
    const code = readSingle(query['code']);
    const state = readSingle(query['state']);
    if (code === undefined && state !== undefined) await returnToPage(host, ctx, state);
    else await logIn(host, ctx, code, state);
  };
}

/** The first request: redeems the code, and sets the cookie of the door. */
async function logIn(host: DoorHost, ctx: Context, code?: string, state?: string): Promise<void> {
  const { login, verifier } = host.logins.verify(ctx, state);
  const place = findPlaceOfCode(host, code);
  ctx.state.registration = place.served.registration.name;
  try {
    // Every login continues the login of the cookie, also if the person asked for it before a renewal was due. Otherwise,
    // copies of the replaced cookie would live on after a logout.
    const renews = await findRenewable(host, openEvenIfEnded(host, ctx)?.opened);
    const granted = await redeem(place, ctx, { code, verifier }, renews);
    await leaveOtherPerson(host, ctx, granted);
    host.cookies.set(ctx, granted.accessToken, granted.expiresIn ?? 0);
  } catch (error) {
    // A refused person loses the earlier login in all browsers. After any other failure, it goes on, and its cookie
    // still opens the door.
    if (isRefusal(error) && login?.renews) await endInAllBrowsers(host, login.renews);
    throw error;
  }
  redirectThroughProxy(ctx, withParameters(host.origin + doorPaths.callback, { state: state ?? '' }));
}

/**
 * Finds the place of the registration that issued a code. The code itself says which registration that is, because it
 * is sealed for one. So no parameter can make another registration redeem it (a mix-up).
 *
 * @returns the place. If no known registration issued the code, a place that will refuse it: preferably a place whose
 *   provider is not known now, because that registration may have issued the code
 * @see RFC 9207 §1
 */
function findPlaceOfCode({ places }: DoorHost, code = ''): DoorPlace {
  const [first] = places;
  const isKnown = ({ served }: DoorPlace) => undefinedIfFailed(() => served.registration.current()) !== undefined;
  const known = places.filter(isKnown);
  const issuer = known.find(({ served, door }) => served.grants.codes.openExpired(code, door.client.audience));
  return issuer ?? places.find((place) => !known.includes(place)) ?? first;
}

/** The second request: returns to the page, if the browser has kept the cookie. */
async function returnToPage(host: DoorHost, ctx: Context, state: string): Promise<void> {
  const { logins, origin } = host;
  const entered = await openByCookie(ctx, host);
  if (entered === undefined) throw describeLostCookie(host, ctx);
  recordCaller(ctx, entered, 'cookie');
  const login = logins.find(ctx, state);
  // The browser has kept the cookie of an earlier login, but began another one, because the proxy does not show the
  // cookie to the check. Without this failure, it would be sent to the login forever.
  const isCookieLost = login !== undefined && logins.hasFinished(ctx, login.at);
  logins.finish(ctx, state);
  if (isCookieLost) throw new RelayError('cookie_refused');
  redirectThroughProxy(ctx, origin + (login?.wayBack ?? '/'));
}

/**
 * Spends the code of a callback in a browser that did not begin the login. The attacker may have begun it in another
 * browser, and a script of the application may learn the address of the callback. It runs before every refusal, for
 * example of a frame. Otherwise, the script could cause a refusal, and the code would still be worth a login. In the
 * browser that began the login, a refused prefetch must not spend the code, and only that browser can redeem it.
 */
export function spendForeignCode(host: DoorHost): Handler {
  return async (ctx: Context, next) => {
    const query = truncatedQuery(ctx);
    const code = undefinedIfFailed(() => readSingle(query['code']));
    const isOwn = undefinedIfFailed(() => host.logins.verify(ctx, readSingle(query['state']))) !== undefined;
    if (code !== undefined && !isOwn) await spendCode(findPlaceOfCode(host, code), code);
    await next();
  };
}

/** Spends a code, unless another place issued it. */
async function spendCode({ served, door }: DoorPlace, code: string): Promise<void> {
  const opened = served.grants.codes.openExpired(code, door.client.audience);
  if (opened === undefined) return;
  await served.grants.redemptions.spend(hashRedemption(served.registration.current(), opened.login));
}

/**
 * If another person was logged in in this browser, ends that login, because a logout here could no longer end copies of
 * its cookie, and clears the cache, which may show that person's pages (`browserResponseHeaders`). A cookie that no
 * place opens any more, for example since a reload removed its provider or its key, may be another person's.
 */
async function leaveOtherPerson(host: DoorHost, ctx: Context, { identity }: Granted): Promise<void> {
  if (host.cookies.get(ctx) === undefined) return;
  const earlier = openEvenIfEnded(host, ctx)?.opened;
  if (earlier !== undefined && earlier.sub === identity?.sub) return;
  ctx.set('Clear-Site-Data', '"cache"');
  if (earlier !== undefined) await endInAllBrowsers(host, earlier.login);
}

/** Redeems a code as the token endpoint does. The access token that it grants is the content of the cookie. */
async function redeem(
  { served, door }: DoorPlace,
  ctx: Context,
  { code, verifier }: { readonly code: string | undefined; readonly verifier: string },
  renews: EndpointRequest['renews'],
): Promise<Granted> {
  if (code === undefined) throw new RelayError('code_missing');
  ctx.state.grant = 'authorization_code';
  const { client: frontEnd, grants } = door;
  const parameters = { code, code_verifier: verifier };
  const registration = served.registration.current();
  return await redeemCode({ ...served, registration, frontEnd, grants, ctx, parameters, renews }).catch(failOnPage);
}

/** The failures of a code, each with the failure that a person understands. */
const failuresOfCode: Readonly<Partial<Record<FailureCode, FailureCode>>> = {
  grant_invalid: 'state_altered',
  verifier_wrong: 'state_altered',
  code_redeemed: 'state_finished',
  code_expired: 'state_expired',
};

const isRefusal = (error: unknown): error is RelayError => isFailure(error, 'access_refused', ...refusalsAtProvider);

/** Turns a failure of the token endpoint into the failure of a page. A refusal is 403 there, and 400 for programs. */
function failOnPage(error: unknown): never {
  if (isRefusal(error)) throw new RelayError(error.code, { ...error, status: 403 });
  const code = error instanceof RelayError ? failuresOfCode[error.code] : undefined;
  throw code === undefined ? error : new RelayError(code);
}

/** The login that goes on if the same person logs in; undefined if it has ended meanwhile. */
async function findRenewable(
  { endedLogins }: DoorHost,
  renews: EndpointRequest['renews'],
): Promise<EndpointRequest['renews']> {
  const hasEnded = renews !== undefined && (await endedLogins.hasEnded(renews.login));
  return hasEnded ? undefined : renews;
}

/** Ends a login in all browsers that have its cookie. */
async function endInAllBrowsers({ endedLogins }: DoorHost, login: string): Promise<void> {
  await endedLogins.end(login, longestBrowserLifetime * 1000);
}
