import { setTimeout } from 'node:timers/promises';
import { isFailure, RelayError, unlessFailed } from '../failures/relay-error.ts';
import type { GrantMemory } from '../grants/grants.ts';
import type { Refreshes } from '../grants/refreshes.ts';
import { type Context, type Handler, readQuery, recordCall } from '../http/context.ts';
import { limits } from '../limits.ts';
import type { Registration } from '../login/registration.ts';
import { presentFields } from '../oauth/extra-fields.ts';
import { eachAlone, type RevocableTokens } from '../oauth/revocation.ts';
import type { SessionContent } from '../session/sessions.ts';
import { renewTokens } from './admission.ts';
import type { OpenSession, SessionRequests } from './session-requests.ts';

type Memory = Pick<GrantMemory, 'refreshes' | 'revocations'>;

/** `GET /auth/session`: describes the session of a page, or answers 401. */
export function describeSession(requests: SessionRequests): Handler {
  return async (ctx: Context) => {
    ctx.body = description(requests, await requests.open(ctx));
  };
}

/**
 * `POST /auth/session/refresh`: renews the access token of a session and its idle time. If the provider gave
 * no refresh token, it renews only the idle time, without a call.
 *
 * A refresh that the provider refuses clears nothing: another refresh may have been faster, and its
 * cookie is good. The session of somebody who may not log in any more ends.
 */
export function refreshSession(requests: SessionRequests, { refreshes }: Memory): Handler {
  return async (ctx: Context) => {
    const open = await requests.open(ctx);
    ctx.body = description(requests, await renewSession(ctx, open, requests, refreshes));
  };
}

/**
 * Renews the tokens of a session, if it has a refresh token, and its idle time. The answer sets its cookie.
 *
 * @throws {RelayError} `session_refused`, `session_missing` after a logout, or why there is no answer
 */
export async function renewSession(
  ctx: Context,
  open: OpenSession,
  { sessions }: SessionRequests,
  refreshes: Refreshes,
): Promise<OpenSession> {
  const { session, frontEnd } = open;
  const owner = [session.audience, frontEnd.name] as const;
  const refresh = { owner, login: session.id, scope: undefined };
  const address = open.registration.addressOf(ctx.req);
  const renewal = { place: open, ctx, refreshes, tokens: session, refresh, address };
  const { tokens } = await renewTokens(renewal).catch(async (error) => {
    const isEnded = isFailure(error, 'access_ended');
    // Its tokens may be good for longer: not every provider revokes them.
    if (isEnded) await sessions.end(session);
    else if (!isFailure(error, 'refresh_refused')) throw error;
    // A page needs to know only that its session is over.
    const { detail, fields, providerError } = error;
    throw new RelayError('session_refused', isEnded ? { detail, fields } : { providerError });
  });
  const renewed = await sessions.renew(ctx, session, tokens);
  // The person has logged out in the meantime.
  if (renewed === undefined) throw new RelayError('session_missing');
  return { ...open, session: renewed };
}

/** What a page may know of its session. */
function description({ secondsLeft }: SessionRequests, open: OpenSession) {
  const left = secondsLeft(open);
  return {
    ...presentFields(open.session.extraFields, open.registration.provider),
    provider: open.registration.name,
    expires_in: Number.isFinite(left) ? Math.floor(left) : undefined,
    renewable: open.session.refreshToken !== undefined,
  };
}

/**
 * `POST /auth/logout`: clears the cookie of a page's session, whatever else happens. It revokes the tokens
 * at the provider if the provider can and answers in time, and names the provider's own logout page. With
 * `revoke=false`, it only ends the session: nobody logged out, but the tokens are refused.
 *
 * @see RFC 7009, OpenID Connect RP-Initiated Logout 1.0 §2
 */
export function logout({ sessions, requireFrontEnd, findRegistration }: SessionRequests, memory: Memory): Handler {
  return async (ctx: Context) => {
    const frontEnd = requireFrontEnd(ctx);
    sessions.clear(ctx, frontEnd.name);
    ctx.body = {};
    // Opens it without asking whether it has ended: a shared memory that is away must not keep a person logged in.
    const session = sessions.open(ctx, frontEnd.name);
    if (session === undefined) return;
    await sessions.end(session);
    const registration = unlessFailed(() => findRegistration(session));
    if (registration === undefined) return;
    ctx.state.registration = registration.name;
    const { revoke } = readQuery(ctx);
    if (revoke !== 'false') {
      const time = setTimeout(limits.logoutTime, undefined, { ref: false });
      await Promise.race([revokeNewest(ctx, session, registration, memory), time]);
    }
    ctx.body = { url: registration.logoutUrl };
  };
}

/** Revokes the newest tokens of a session: another tab may have refreshed it a moment ago. */
async function revokeNewest(
  ctx: Context,
  session: SessionContent,
  registration: Registration,
  { refreshes, revocations }: Memory,
): Promise<void> {
  const { refreshToken, id: login, audience, frontEnd } = session;
  const owner = [audience, frontEnd] as const;
  const newer = refreshToken && (await refreshes.endAndTakeNewest({ owner, login, refreshToken }));
  const revoke = (token: RevocableTokens) => registration.revokeToken(token, recordCall(ctx)).catch(ignoreExpected);
  const tokens = eachAlone(newer || session);
  await Promise.all(tokens.map((token) => revocations.once(token, () => revoke(token))));
}

/** The provider's failures do not keep a person logged in. */
function ignoreExpected(error: unknown): void {
  if (!(error instanceof RelayError)) throw error;
}
