import type { IncomingHttpHeaders } from 'node:http';
import { isFailure, RelayError } from '../failures/relay-error.ts';
import { type Context, clientGone, type Handler, readQuery, recordCall } from '../http/context.ts';
import type { RegistrationSource } from '../login/registration.ts';
import { requireTokenOfAnyScheme, withoutGateCredentials } from '../oauth/authorization-header.ts';
import type { Query } from '../oauth/query.ts';
import { looksSealed } from '../sealing/sealed.ts';
import type { SessionLookup } from './session-lookup.ts';

/** Gives the registration that `provider` names, or else that of the page's origin. Throws `provider_unknown`. */
export type FindRegistration = (provider: Query[string], headers: IncomingHttpHeaders) => RegistrationSource;

/**
 * `GET /api/user`: answers with the provider's record of the token's user, unchanged.
 *
 * Without `Authorization`, and with credentials of a gate in front, the token may be that of a session. Without a session,
 * it is 401: `credentials_missing` of `failures/user.ts`.
 *
 * @param sessions undefined if no front end has sessions
 * @param isForeign whether a request is of a page that is no front end's
 */
export function currentUser(
  find: FindRegistration,
  sessions: SessionLookup | undefined,
  isForeign: (ctx: Context) => boolean,
): Handler {
  return async (ctx: Context) => {
    const authorization = withoutGateCredentials(ctx.req.headersDistinct['authorization'] ?? []);
    const record =
      authorization.length === 0 && sessions?.isClaimed(ctx)
        ? await sessions.lookUp(ctx, find)
        : await lookUpRecord(ctx, requireTokenOfAnyScheme(authorization), find, isForeign(ctx));
    ctx.set('Content-Type', 'application/json');
    // Node.js writes a text in one piece with the head. It is the same bytes: they are UTF-8.
    ctx.body = Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString();
  };
}

/** The record of a token's user. Limited, because anybody can send tokens that the provider does not know. */
async function lookUpRecord(ctx: Context, accessToken: string, find: FindRegistration, isForeign: boolean) {
  if (looksSealed(accessToken)) throw new RelayError('token_of_relay');
  const source = find(readQuery(ctx)['provider'], ctx.req.headers);
  ctx.state.registration = source.name;
  const registration = source.current();
  const lookUp = (isLimited: boolean) => {
    // Nobody gets around the limit by hanging up: a limited call goes on, unless the client left while it queued.
    const mayAbort = !isLimited || ctx.res.closed;
    const signal = mayAbort ? clientGone(ctx) : undefined;
    return registration.lookUpUser(accessToken, recordCall(ctx), signal);
  };
  const address = registration.addressOf(ctx.req);
  // Lookups of any other page must not use up those that the person's own pages need.
  const group = isForeign ? 'foreign' : undefined;
  return await registration.limitLookup(address, accessToken, lookUp, group).catch((error: unknown) => {
    const isOfLookup = isFailure(error, 'lookup_forbidden', 'lookup_postponed', 'lookup_failed');
    if (!isOfLookup) throw error;
    // The contract answers 401. Without `error`, because the token may be valid. @see RFC 6750 §3.1
    const headers = { ...error.headers, 'WWW-Authenticate': 'Bearer' };
    throw new RelayError(error.code, { status: 401, headers });
  });
}
