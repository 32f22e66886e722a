import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Refreshes } from '../grants/refreshes.ts';
import { type Context, clientGone, readQuery, recordCall } from '../http/context.ts';
import type { RegistrationSource } from '../login/registration.ts';
import { createRecent } from '../memory/recent.ts';
import type { Query } from '../oauth/query.ts';
import { renewSession } from './session.ts';
import type { OpenSession, SessionRequests } from './session-requests.ts';

/** Milliseconds without another renewal of a session, after a renewal that did not help. */
const vainTime = 60_000;
const mostVain = 4096;

/**
 * Finds the registration that `provider` names, or else that of the page's origin. @throws {RelayError}
 * `provider_unknown`
 */
export type FindRegistration = (provider: Query[string], headers: IncomingHttpHeaders) => RegistrationSource;

export type SessionLookup = ReturnType<typeof createSessionLookup>;

export function createSessionLookup(requests: SessionRequests, refreshes: Refreshes, now: Clock) {
  /**
   * The ids of sessions whose renewed token was refused, too. Without this limit, a page that keeps asking would use up
   * the refreshes of its login.
   */
  const renewedInVain = createRecent<true>(vainTime, mostVain, now);

  /** Opens the session of a lookup. If the request names a `provider`, it must be the session's. */
  async function openSession(ctx: Context, find: FindRegistration): Promise<OpenSession> {
    const { provider } = readQuery(ctx);
    const named = provider === undefined ? undefined : find(provider, ctx.req.headers);
    const open = await requests.open(ctx);
    const isOther = named !== undefined && named.name !== open.registration.name;
    if (isOther) throw new RelayError('session_missing');
    return open;
  }

  const ask = async (ctx: Context, open: OpenSession) =>
    await open.registration.lookUpUser(requests.requireToken(open), recordCall(ctx), clientGone(ctx));

  return {
    isClaimed: requests.sessions.isClaimed,
    /**
     * The record of a session's user. If the provider refuses the lookup as if the token had ended, the session is
     * renewed once.
     *
     * @throws {RelayError} why there is no record; `session_refused` if the session cannot be renewed any more
     */
    async lookUp(ctx: Context, find: FindRegistration): Promise<Uint8Array> {
      const open = await openSession(ctx, find);
      const { id, accessToken, refreshToken } = open.session;
      try {
        return await ask(ctx, open);
      } catch (error) {
        if (!mayMeanEnd(error, ctx) || refreshToken === undefined || renewedInVain.get(id)) throw error;
        // Otherwise, the refresh may repeat the token that was just refused.
        open.registration.doubt(accessToken);
        const renewed = await renewSession(ctx, open, requests, refreshes).catch((failure: unknown) => {
          // The lookup was refused. A renewal that fails only for now does not change that.
          throw isFailure(failure, 'session_refused', 'session_missing') ? failure : error;
        });
        return await ask(ctx, renewed).catch((again: unknown) => {
          if (mayMeanEnd(again, ctx)) renewedInVain.set(id, true);
          throw again;
        });
      }
    },
  };
}

/** Whether the provider may mean that the token has ended. Salesforce answers 403 then, Facebook 400. */
function mayMeanEnd(error: unknown, { state: { providerCall } }: Context): boolean {
  return isFailure(error, 'lookup_forbidden') || (isFailure(error, 'lookup_failed') && providerCall?.status === 400);
}
