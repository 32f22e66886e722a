import { isFailure, RelayError } from '../failures/relay-error.ts';
import { type Context, clientGoneSignal, type Handler, readQuery, recordCall } from '../http/context.ts';
import { requireTokenOfAnyScheme, withoutGateCredentials } from '../oauth/authorization-header.ts';
import { looksSealed } from '../sealing/seal.ts';
import type { FindRegistration, SessionLookup } from './session-lookup.ts';

/**
 * `GET /api/user`: answers with the provider's record of the user of an access token, byte for byte. The token comes in
 * `Authorization`, or else from the session of the page. With neither, it answers 401.
 *
 * @param find finds the registration at whose provider the lookup is made
 * @param sessions undefined if no front end has sessions
 * @param isForeign whether a request comes from a page that belongs neither to a front end nor to the relay
 */
export function userLookup(
  find: FindRegistration,
  sessions: SessionLookup | undefined,
  isForeign: (ctx: Context) => boolean,
): Handler {
  return async (ctx: Context) => {
    const authorization = withoutGateCredentials(ctx.req.headersDistinct['authorization'] ?? []);
    const record =
      authorization.length === 0 && sessions?.hasCookie(ctx)
        ? await sessions.lookUp(ctx, find)
        : await lookUpRecord(ctx, requireTokenOfAnyScheme(authorization), find, isForeign(ctx));
    ctx.set('Content-Type', 'application/json');
    // A string, because Node.js sends it in one write with the head. The bytes stay the same, because they are UTF-8.
    ctx.body = Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString();
  };
}

/**
 * Looks up a token's user. Lookups are limited by address, because anybody can send made-up tokens, and each costs a
 * call to the provider.
 */
async function lookUpRecord(ctx: Context, accessToken: string, find: FindRegistration, isForeign: boolean) {
  if (looksSealed(accessToken)) throw new RelayError('token_of_relay');
  const source = find(readQuery(ctx)['provider'], ctx.req.headers);
  ctx.state.registration = source.name;
  const registration = source.current();
  const lookUp = (isLimited: boolean) => {
    // A limited call continues if the client hangs up, or the client could avoid the limit by hanging up early. If the
    // client has gone before the call, no call is made.
    const mayAbort = !isLimited || ctx.res.closed;
    const signal = mayAbort ? clientGoneSignal(ctx) : undefined;
    return registration.lookUpUser(accessToken, recordCall(ctx), signal);
  };
  const address = registration.addressOf(ctx.req);
  // Foreign pages have a limit of their own, so that they cannot use up the lookups of the person's own pages.
  const group = isForeign ? 'foreign' : undefined;
  return await registration.limitLookup(address, accessToken, lookUp, group).catch((error: unknown) => {
    if (!isFailure(error, 'lookup_forbidden', 'lookup_postponed', 'lookup_failed')) throw error;
    // The contract prescribes 401. The challenge has no `error`, because the token may be valid. @see RFC 6750 §3.1
    const headers = { ...error.headers, 'WWW-Authenticate': 'Bearer' };
    throw new RelayError(error.code, { status: 401, headers });
  });
}
