import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import type { Refreshes } from '../grants/refresh-once.ts';
import { type Context, clientGoneSignal, readQuery, recordCall } from '../http/context.ts';
import type { RegistrationSource } from '../login/registration.ts';
import { createExpiringSecrets } from '../memory/expiring-map.ts';
import type { Query } from '../oauth/query.ts';
import { renewSession } from './session-endpoints.ts';
import type { OpenSession, SessionRequests } from './session-requests.ts';

/** Milliseconds for which a session is not renewed again after a renewal that did not help. */
const vainTime = 60_000;
const mostVain = 4096;

/**
 * Finds the registration that `provider` names, or else the registration of the page's origin, or else the first.
 *
 * @throws {RelayError} `provider_unknown`, also if the origin's pages may use several registrations
 */
export type FindRegistration = (provider: Query[string], headers: IncomingHttpHeaders) => RegistrationSource;

export type SessionLookup = ReturnType<typeof createSessionLookup>;

/** Looks up the user of a session at the provider, for `GET /api/user`. */
export function createSessionLookup(requests: SessionRequests, refreshes: Refreshes, now: Clock) {
  /**
   * The ids of sessions whose renewed token the provider refused as well. They are not renewed again for a while.
   * Otherwise, a page that keeps asking would use up the refreshes of its login.
   */
  const renewedInVain = createExpiringSecrets<true>(vainTime, mostVain, now);

  /** Opens the session of a lookup. If the request names a `provider`, it must be the session's. */
  async function openSession(ctx: Context, find: FindRegistration): Promise<OpenSession> {
    const { provider } = readQuery(ctx);
    const named = provider === undefined ? undefined : find(provider, ctx.req.headers);
    const opened = await requests.openSession(ctx);
    const isAtOther = named !== undefined && named.name !== opened.registration.name;
    if (isAtOther) throw new RelayError('session_missing');
    return opened;
  }

  const askProvider = async (ctx: Context, opened: OpenSession) =>
    await opened.registration.lookUpUser(requests.requireToken(opened), recordCall(ctx), clientGoneSignal(ctx));

  return {
    hasCookie: requests.sessions.hasCookie,
    /**
     * Looks up the record of a session's user. If the provider refuses the lookup as if the token had ended, the
     * session is renewed, and the lookup repeated once.
     *
     * @throws {RelayError} why there is no record; `session_refused` if the session cannot be renewed any more
     */
    async lookUp(ctx: Context, find: FindRegistration): Promise<Uint8Array> {
      const opened = await openSession(ctx, find);
      const { id, accessToken, refreshToken } = opened.session;
      try {
        return await askProvider(ctx, opened);
      } catch (error) {
        if (!mayMeanTokenEnd(error, ctx) || refreshToken === undefined || renewedInVain.get(id)) throw error;
        // Otherwise, the refresh may repeat a remembered result with the token that was just refused.
        opened.registration.doubt(accessToken);
        const renewed = await renewSession(ctx, opened, requests, refreshes).catch((failure: unknown) => {
          // If the renewal fails for now only, the page gets the failure of its lookup.
          throw isFailure(failure, 'session_refused', 'session_missing') ? failure : error;
        });
        return await askProvider(ctx, renewed).catch((secondError: unknown) => {
          if (mayMeanTokenEnd(secondError, ctx)) renewedInVain.set(id, true);
          throw secondError;
        });
      }
    },
  };
}

/** Whether a failed lookup may mean that the token has ended. Salesforce answers 403 then, Facebook 400. */
function mayMeanTokenEnd(error: unknown, { state: { providerCall } }: Context): boolean {
  return isFailure(error, 'lookup_forbidden') || (isFailure(error, 'lookup_failed') && providerCall?.status === 400);
}
