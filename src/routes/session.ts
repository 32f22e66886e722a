import type { Middleware } from 'koa';
import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { KeptRefreshes } from '../grants/kept-refreshes.ts';
import { type Context, type RequestState, recordCall } from '../http/context.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { admissionTo, failRefresh } from './admission.ts';
import type { OpenSession, SessionAccess } from './session-access.ts';

/** `GET /auth/session`: describes the session of a page, or answers 401. */
export function describeSession(access: SessionAccess): Middleware<RequestState> {
  return async (ctx: Context) => {
    ctx.body = description(await access.open(ctx), access.now);
  };
}

/**
 * `POST /auth/session/refresh`: renews the access token of a session and its idle time. If the provider gave
 * no refresh token, it renews only the idle time, without a call.
 *
 * A refresh that the provider refuses clears nothing: another refresh may have been faster, and its
 * cookie is good. The session of somebody who may not log in any more ends.
 */
export function refreshSession(
  access: SessionAccess,
  refreshes: KeptRefreshes,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const open = await access.open(ctx);
    const end = () => access.sessions.end(open.session);
    const token = await refreshed(ctx, open, refreshes).catch((error) => endSession(error, end));
    const session = await access.sessions.renew(ctx, open.session, token);
    // It was logged out in the meantime.
    if (session === undefined) throw new RelayError('session_missing');
    ctx.body = description(access.opened(session, open.registration, open.frontEnd), access.now);
  };
}

/** @returns undefined if there is nothing to refresh */
async function refreshed(
  ctx: Context,
  { session, registration, frontEnd }: OpenSession,
  refreshes: KeptRefreshes,
): Promise<TokenResponse | undefined> {
  const { refreshToken, audience } = session;
  const admission = admissionTo({ registration, frontEnd }, ctx);
  if (refreshToken === undefined) {
    await admission?.(session).catch((error: unknown) => failRefresh(error, false));
    return undefined;
  }
  const refresh = { registration: audience, frontEnd: frontEnd.name, refreshToken };
  const call = (grant: RefreshGrant) => registration.refreshToken(grant, recordCall(ctx));
  return await refreshes
    .join({ ...refresh, scope: undefined }, call, registration.isGood, admission)
    .catch((error: unknown) => failRefresh(error, true));
}

/** A page only knows that its session is over. */
async function endSession(error: unknown, end: () => Promise<void>): Promise<never> {
  if (!(error instanceof RelayError)) throw error;
  const { code, detail, providerError } = error;
  if (code === 'access_ended') {
    // Its tokens may be good for longer: not every provider revokes them.
    await end();
    throw new RelayError('session_refused', { detail });
  }
  throw code === 'refresh_refused' ? new RelayError('session_refused', { providerError }) : error;
}

/** What a page may know of its session. */
function description({ session, registration, tokenEndsAt: end }: OpenSession, now: Clock) {
  const { refreshToken } = session;
  return {
    provider: registration.name,
    expires_in: end === undefined ? undefined : Math.max(0, Math.floor(end - now() / 1000)),
    renewable: refreshToken !== undefined,
  };
}
