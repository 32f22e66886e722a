import { type FailureCode, isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import { type Context, type Handler, readQuery } from '../http/context.ts';
import { expectNavigation, expectNoFrame } from '../http/request-guards.ts';
import { hashKey } from '../memory/recent.ts';
import { readSingle, withParameters } from '../oauth/query.ts';
import { doorPaths } from '../paths.ts';
import { longestBrowserLifetime } from '../resources/resource.ts';
import { type DoorPlace, openByCookie, redirectThroughProxy } from './enter-door.ts';
import type { EndpointRequest } from './front-end-endpoint.ts';
import type { Granted } from './granted-token.ts';
import { recordCaller } from './protected-resource.ts';
import { redeemCode } from './redeem-code.ts';
import { redirectToProvider } from './redirect-to-provider.ts';

/**
 * `GET /auth/<registration>/door/<resource>?state=<ticket>`: starts the login of a browser at a resource, with a ticket
 * that the relay sealed for this door.
 */
export function startAtDoor({ served, door }: DoorPlace): Handler {
  return (ctx: Context) => {
    const { client, logins, resource } = door;
    ctx.state.resource = resource.name;
    // A script of the application could open a window here with the ticket of another browser, make the request of the
    // callback too large to be read, and take the unspent code from the address of the window.
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
    expectNavigation(ctx);
    const { state, prompt } = readQuery(ctx);
    const { challenge, loginHint } = logins.openTicket(state);
    const { provider, scopeWithAccess } = served.registration.current();
    const scope = scopeWithAccess(provider.scope, provider.scope, client, resource);
    const otherAccount = prompt === 'select_account';
    redirectToProvider(ctx, { ...served, frontEnd: client }, { door: challenge, scope, otherAccount, loginHint });
  };
}

/**
 * `GET /.login-relay/callback` at the host of a resource: ends the login of a browser in two steps. The first one
 * redeems the code within this process, without an HTTP call to the token endpoint, and sets the cookie. The second one
 * checks that the browser kept the cookie before it returns to the page. Otherwise, a browser without cookies would be
 * sent to the login forever.
 */
export function doorCallback(place: DoorPlace): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = place.door.resource.name;
    expectNoFrame(ctx);
    const query = readQuery(ctx);
    const code = readSingle(query['code']);
    const state = readSingle(query['state']);
    if (code === undefined && state !== undefined) await leadBack(place, ctx, state);
    else await logIn(place, ctx, code, state);
  };
}

/** The first step: sets the cookie of the door. */
async function logIn(place: DoorPlace, ctx: Context, code?: string, state?: string): Promise<void> {
  const { door } = place;
  const { login, verifier } = await verifyOrSpend(place, ctx, state, code);
  try {
    const renews = await stillOpen(place, login?.renews);
    const granted = await redeem(place, ctx, { code, verifier }, renews);
    door.cookies.set(ctx, granted.accessToken, granted.expiresIn ?? 0);
  } catch (error) {
    // After any other failure, the old cookie keeps working for a while, because the cookie of this attempt exists.
    if (isRefusal(error) && login?.renews) await endRenewed(place, login.renews.login);
    throw error;
  }
  redirectThroughProxy(ctx, withParameters(door.origin + doorPaths.callback, { state: state ?? '' }));
}

/** The second step: leads back to the page, if the browser has kept the cookie. */
async function leadBack({ door }: DoorPlace, ctx: Context, state: string): Promise<void> {
  const { logins, origin } = door;
  const opened = await openByCookie(ctx, () => ctx, door);
  if (opened === undefined) throw new RelayError('cookie_refused');
  recordCaller(ctx, opened, 'cookie');
  const login = logins.find(ctx, state);
  // The browser already got the cookie of an earlier login, but the check did not see it.
  const isStranded = login !== undefined && logins.hasFinished(ctx, login.at);
  logins.finish(ctx, state);
  if (isStranded) throw new RelayError('cookie_refused');
  redirectThroughProxy(ctx, origin + (login?.wayBack ?? '/'));
}

/**
 * Verifies that this browser began the login. If not, it spends the code, because a script of the application or
 * another person may know the address of the callback.
 */
async function verifyOrSpend({ served, door }: DoorPlace, ctx: Context, state?: string, code?: string) {
  try {
    return door.logins.verify(ctx, state);
  } catch (error) {
    const opened = code === undefined ? undefined : served.grants.codes.openExpired(code, door.client.audience);
    if (opened)
      await served.grants.redemptions.spend(hashKey(served.registration.current().audience, opened.login.providerCode));
    throw error;
  }
}

interface Shown {
  readonly code: string | undefined;
  readonly verifier: string;
}

/** Redeems a code as the token endpoint does. What it grants is the content of the cookie. */
async function redeem(
  { served, door }: DoorPlace,
  ctx: Context,
  { code, verifier }: Shown,
  renews: EndpointRequest['renews'],
): Promise<Granted> {
  if (code === undefined) throw new RelayError('code_missing');
  ctx.state.grant = 'authorization_code';
  const { client: frontEnd, grants } = door;
  const parameters = { code, code_verifier: verifier };
  const registration = served.registration.current();
  return await redeemCode({ ...served, registration, frontEnd, grants, ctx, parameters, renews }).catch(failOnPage);
}

/** The failures of a code, as a person understands them. */
const causes: Readonly<Partial<Record<FailureCode, FailureCode>>> = {
  grant_invalid: 'state_altered',
  verifier_wrong: 'state_altered',
  code_redeemed: 'state_finished',
  code_expired: 'state_expired',
};

const isRefusal = (error: unknown): error is RelayError => isFailure(error, 'access_refused', ...refusalsAtProvider);

/** The token endpoint answers refusals with 400. */
function failOnPage(error: unknown): never {
  if (isRefusal(error)) throw new RelayError(error.code, { ...error, status: 403 });
  const cause = error instanceof RelayError ? causes[error.code] : undefined;
  throw cause === undefined ? error : new RelayError(cause);
}

/** The login that this one renews, unless it has ended meanwhile. */
async function stillOpen({ served }: DoorPlace, renews: EndpointRequest['renews']): Promise<EndpointRequest['renews']> {
  const hasEnded = renews !== undefined && (await served.grants.endedLogins.hasEnded(renews.login));
  return hasEnded ? undefined : renews;
}

/** Ends a login everywhere, if the person may not use the resource any more. */
async function endRenewed({ served }: DoorPlace, login: string): Promise<void> {
  await served.grants.endedLogins.end(login, longestBrowserLifetime * 1000);
}
