import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import { clientGone } from '../http/client-gone.ts';
import type { Context, RequestState } from '../http/context.ts';
import type { Registration } from '../login/login.ts';
import { parseBearerToken } from '../oauth/authorization-header.ts';
import { parseQuery, type Query } from '../oauth/query.ts';

/**
 * `GET /api/user`: answers with the provider's record of the token's user, unchanged.
 *
 * @param registrationOf gives the registration that a request names, else the first one
 */
export function currentUser(
  registrationOf: (provider: Query[string]) => Registration | undefined,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const registration = registrationOf(parseQuery(ctx.querystring)['provider']);
    if (registration === undefined) throw new RelayError('provider_unknown');
    ctx.state.registration = registration.name;
    const accessToken = parseBearerToken(ctx.req.headersDistinct['authorization'] ?? []);
    const record = await registration.lookUpUser(
      accessToken,
      (call) => {
        ctx.state.providerCall = call;
      },
      clientGone(ctx),
    );
    ctx.set('Content-Type', 'application/json');
    ctx.body = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  };
}
