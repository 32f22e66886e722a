import type { Middleware } from 'koa';
import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { Refreshes } from '../grants/refreshes.ts';
import { type Context, type RequestState, recordCall } from '../http/context.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
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
 * cookie is good.
 */
export function refreshSession(
  access: SessionAccess,
  refreshes: Refreshes,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const open = await access.open(ctx);
    const token = await refreshed(ctx, open, refreshes);
    const session = await access.sessions.renew(ctx, open.session, token);
    // It was logged out in the meantime.
    if (session === undefined) throw new RelayError('session_missing');
    ctx.body = description({ ...open, session }, access.now);
  };
}

/** @returns undefined if there is nothing to refresh */
async function refreshed(
  ctx: Context,
  { session, registration }: OpenSession,
  refreshes: Refreshes,
): Promise<TokenResponse | undefined> {
  const { refreshToken, frontEnd, audience } = session;
  if (refreshToken === undefined) return undefined;
  const refresh = { registration: audience, frontEnd, refreshToken, scope: undefined };
  const response = refreshes.join(
    refresh,
    (grant) => registration.refreshToken(grant, recordCall(ctx)),
    registration.isGood,
  );
  return await response.catch((error: unknown) => {
    if (!(error instanceof RelayError) || error.code !== 'refresh_refused') throw error;
    throw new RelayError('session_refused', { providerError: error.providerError });
  });
}

/** What a page may know of its session. */
function description({ session, registration }: OpenSession, now: Clock) {
  const { accessTokenEndsAt: end, refreshToken } = session;
  return {
    provider: registration.name,
    expires_in: end === undefined ? undefined : Math.max(0, Math.floor(end - now() / 1000)),
    renewable: refreshToken !== undefined,
  };
}
