import type { Middleware } from 'koa';
import { clientGone } from '../http/client-gone.ts';
import type { Context, RequestState } from '../http/context.ts';
import type { Registration } from '../login/login.ts';
import { parseBearerToken } from '../oauth/authorization-header.ts';

/** `GET /api/user`: answers with the provider's record of the token's user, unchanged. */
export function currentUser(registration: Registration): Middleware<RequestState> {
  return async (ctx: Context) => {
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
