import { setTimeout } from 'node:timers/promises';
import { isFailure, RelayError, undefinedIfFailed } from '../failures/relay-error.ts';
import type { GrantMemory } from '../grants/grants.ts';
import type { Refreshes } from '../grants/refresh-once.ts';
import { type Context, type Handler, readQuery, recordCall } from '../http/context.ts';
import { limits } from '../limits.ts';
import type { Registration } from '../login/registration.ts';
import { pickPresentFields } from '../oauth/extra-fields.ts';
import { type RevocableTokens, splitTokens } from '../oauth/revocation.ts';
import type { SessionContent } from '../session/sessions.ts';
import { renewTokens } from './admission.ts';
import type { OpenSession, SessionRequests } from './session-requests.ts';

type Memory = Pick<GrantMemory, 'refreshes' | 'revocations'>;

/** `GET /auth/session`: describes the session of a page, or answers 401. */
export function describeSession(requests: SessionRequests): Handler {
  return async (ctx: Context) => {
    ctx.body = describe(requests, await requests.openSession(ctx));
  };
}

/**
 * `POST /auth/session/refresh`: renews the access token and the idle time of a session. Without a refresh token of the
 * provider, it renews only the idle time.
 *
 * A refused refresh clears no cookie, because another tab may have refreshed faster and set a good cookie. If the
 * person may not log in any more, the session ends.
 */
export function refreshSession(requests: SessionRequests, { refreshes }: Memory): Handler {
  return async (ctx: Context) => {
    const opened = await requests.openSession(ctx);
    ctx.body = describe(requests, await renewSession(ctx, opened, requests, refreshes));
  };
}

/**
 * Renews the tokens of a session, if it has a refresh token, and its idle time. The response sets the cookie.
 *
 * @throws {RelayError} `session_refused`, `session_missing` after a logout, `rate_limited`, or why the refresh failed
 */
export async function renewSession(
  ctx: Context,
  opened: OpenSession,
  { sessions }: SessionRequests,
  refreshes: Refreshes,
): Promise<OpenSession> {
  const { session, registration } = opened;
  refreshes.count(session.id);
  const { tokens } = await renewTokens({
    destination: opened,
    ctx,
    refreshes,
    tokens: session,
    subjectId: session.subjectId,
    refresh: { ...ownerOfRefreshes(session), scope: undefined },
    address: registration.addressOf(ctx.req),
  }).catch(async (error) => {
    if (isFailure(error, 'access_ended')) {
      // The relay has to end the session itself, because not every provider can revoke its tokens.
      await sessions.end(session);
      throw new RelayError('session_refused', { detail: error.detail, fields: error.fields });
    }
    if (isFailure(error, 'refresh_refused')) {
      throw new RelayError('session_refused', { providerError: error.providerError });
    }
    throw error;
  });
  const renewed = await sessions.renew(ctx, session, tokens);
  // The person has logged out during the refresh.
  if (renewed === undefined) throw new RelayError('session_missing');
  return { ...opened, session: renewed };
}

/** The owner and the login of a session's refreshes. A logout ends the refreshes that a renewal made with the same ones. */
function ownerOfRefreshes({ id, audience, frontEnd }: SessionContent) {
  return { owner: [audience, frontEnd] as const, login: id };
}

/** Describes a session to its page. Without a time at which the session must be refreshed, `expires_in` is left out. */
function describe({ secondsLeft }: SessionRequests, opened: OpenSession) {
  const { session, registration } = opened;
  const left = secondsLeft(opened);
  return {
    ...pickPresentFields(session.extraFields, registration.provider),
    provider: registration.name,
    expires_in: Number.isFinite(left) ? Math.floor(left) : undefined,
    renewable: session.refreshToken !== undefined,
  };
}

/**
 * `POST /auth/logout`: clears the cookie of a session in any case, revokes the tokens if the provider can and answers
 * in time, and returns the provider's logout page. With `revoke=false`, it revokes nothing. A page sends this if its
 * tokens were refused, but the person did not log out.
 *
 * @see RFC 7009, OpenID Connect RP-Initiated Logout 1.0 §2
 */
export function logout({ sessions, requireFrontEnd, findRegistration }: SessionRequests, memory: Memory): Handler {
  return async (ctx: Context) => {
    const frontEnd = requireFrontEnd(ctx);
    sessions.clear(ctx, frontEnd.name);
    ctx.body = {};
    // Opens the cookie without asking whether its session has ended, because a shared memory that does not answer must
    // not prevent the logout.
    const session = sessions.open(ctx, frontEnd.name);
    if (session === undefined) return;
    await sessions.end(session);
    const registration = undefinedIfFailed(() => findRegistration(session));
    if (registration === undefined) return;
    ctx.state.registration = registration.name;
    const { revoke } = readQuery(ctx);
    if (revoke !== 'false') {
      const deadline = setTimeout(limits.logoutTime, undefined, { ref: false });
      await Promise.race([revokeNewest(ctx, session, registration, memory), deadline]);
    }
    ctx.body = { url: registration.logoutUrl };
  };
}

/** Revokes the newest tokens of a session, because another tab may have refreshed it a moment ago. */
async function revokeNewest(
  ctx: Context,
  session: SessionContent,
  registration: Registration,
  { refreshes, revocations }: Memory,
): Promise<void> {
  const { refreshToken } = session;
  const newer = refreshToken && (await refreshes.endAndTakeNewest({ ...ownerOfRefreshes(session), refreshToken }));
  const revoke = (token: RevocableTokens) => registration.revokeToken(token, recordCall(ctx)).catch(ignoreRelayError);
  const tokens = splitTokens(newer || session);
  await Promise.all(tokens.map((token) => revocations.revokeOnce(token, () => revoke(token))));
}

/** A failure of the provider must not prevent a logout. */
function ignoreRelayError(error: unknown): void {
  if (!(error instanceof RelayError)) throw error;
}
