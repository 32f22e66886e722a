import { setTimeout } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { GrantMemory } from '../grants/grants.ts';
import { type Context, type RequestState, readQuery, recordCall } from '../http/context.ts';
import { limits } from '../limits.ts';
import type { Registration } from '../login/registration.ts';
import type { SessionContent } from '../session/sessions.ts';
import type { SessionAccess } from './session-access.ts';

/**
 * `POST /auth/logout`: clears the cookie of a page's session, whatever else happens. It revokes the tokens
 * at the provider if the provider can and answers in time, and names the provider's own logout page. With
 * `revoke=false`, it only ends the session: nobody logged out, but the tokens are refused.
 *
 * @see RFC 7009, OpenID Connect RP-Initiated Logout 1.0 §2
 */
export function logout(
  { sessions, frontEndOf, registrationOf }: SessionAccess,
  memory: Pick<GrantMemory, 'refreshes' | 'revocations'>,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const frontEnd = frontEndOf(ctx);
    sessions.clear(ctx, frontEnd.name);
    ctx.body = {};
    const session = await sessions.read(ctx, frontEnd.name);
    if (session === undefined) return;
    await sessions.end(session);
    const registration = unlessExpected(() => registrationOf(session));
    if (registration === undefined) return;
    ctx.state.registration = registration.name;
    const { revoke } = readQuery(ctx);
    if (revoke !== 'false') await withinTime(revokeAll(ctx, session, registration, memory));
    ctx.body = { url: unlessExpected(() => registration.logoutUrl()) };
  };
}

/** Revokes the newest tokens of a session: another tab may have refreshed it a moment ago. */
async function revokeAll(
  ctx: Context,
  session: SessionContent,
  registration: Registration,
  { refreshes, revocations }: Pick<GrantMemory, 'refreshes' | 'revocations'>,
): Promise<void> {
  const { refreshToken, audience, frontEnd } = session;
  const owner = { registration: audience, frontEnd };
  const newest = refreshToken && (await refreshes.end({ ...owner, refreshToken }));
  const tokens = newest || session;
  // Some providers keep the access token when its refresh token is revoked. @see RFC 7009 §2.1
  const each = [{ refreshToken: tokens.refreshToken }, { accessToken: tokens.accessToken }];
  await Promise.all(
    each.map((token) =>
      revocations.once(token, async () => {
        await registration.revokeToken(token, recordCall(ctx)).catch(ignoreExpected);
      }),
    ),
  );
}

/** The provider's failures do not keep a person logged in. */
function ignoreExpected(error: unknown): undefined {
  if (!(error instanceof RelayError)) throw error;
}

function unlessExpected<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch (error) {
    return ignoreExpected(error);
  }
}

async function withinTime(work: Promise<void>): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const time = setTimeout(limits.logoutTime, undefined, { signal, ref: false }).catch(() => {});
  await Promise.race([work, time]).finally(() => stop.abort());
}
