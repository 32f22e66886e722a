import type { Middleware } from 'koa';
import { clientGone } from '../http/client-gone.ts';
import type { Context } from '../http/context.ts';
import { parseBearerToken } from '../oauth/bearer-token.ts';
import type { ObserveCall, ProviderClient } from '../upstream/client.ts';
import type { ProviderSource } from '../upstream/provider-source.ts';
import { lookUpUser } from '../upstream/user-endpoint.ts';

/** `GET /api/user`: answers with the provider's record of the token's user, unchanged. */
export function currentUser(source: ProviderSource, client: ProviderClient): Middleware {
  return async (ctx: Context) => {
    const accessToken = parseBearerToken(ctx.req.headersDistinct['authorization'] ?? []);
    const observe: ObserveCall = (call) => {
      ctx.state.providerCall = call;
    };
    const gone = clientGone(ctx);
    const record = await lookUpUser(client, source.current(), accessToken, observe, gone);
    ctx.set('Content-Type', 'application/json');
    ctx.body = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  };
}
