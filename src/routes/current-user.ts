import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import { clientGone } from '../http/client-gone.ts';
import type { Context, RequestState } from '../http/context.ts';
import { recordCall } from '../http/record-call.ts';
import type { Registration } from '../login/registration.ts';
import { parseBearerToken } from '../oauth/authorization-header.ts';
import { parseQuery, type Query } from '../oauth/query.ts';
import { openSession, type SessionAccess, usableToken } from './open-session.ts';

/**
 * `GET /api/user`: answers with the provider's record of the token's user, unchanged.
 *
 * Without `Authorization`, the token may be that of a session.
 *
 * @param registrationOf gives the registration that a request names, else the first one
 * @param access undefined if no front end has sessions
 */
export function currentUser(
  registrationOf: (provider: Query[string]) => Registration | undefined,
  access: SessionAccess | undefined,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const { provider } = parseQuery(ctx.querystring);
    const named = registrationOf(provider);
    if (named === undefined) throw new RelayError('provider_unknown');
    ctx.state.registration = named.name;
    const authorization = ctx.req.headersDistinct['authorization'] ?? [];
    const { registration, accessToken } =
      authorization.length === 0 && access?.sessions.isClaimed(ctx)
        ? await userOfSession(ctx, access, provider === undefined ? undefined : named)
        : { registration: named, accessToken: parseBearerToken(authorization) };
    const record = await registration.lookUpUser(accessToken, recordCall(ctx), clientGone(ctx));
    ctx.set('Content-Type', 'application/json');
    ctx.body = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  };
}

/** @param named the registration that the request names; undefined: that of the session */
async function userOfSession(ctx: Context, access: SessionAccess, named: Registration | undefined) {
  const { session, registration } = await openSession(ctx, access);
  if (named !== undefined && named !== registration) throw new RelayError('session_missing');
  return { registration, accessToken: usableToken(session, access.now) };
}
