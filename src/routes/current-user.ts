import type { Middleware } from 'koa';
import type { Context } from '../http/context.ts';
import { parseBearerToken } from '../oauth/bearer-token.ts';
import type { ProviderClient } from '../oauth/provider-client.ts';
import type { ProviderSource } from '../oauth/provider-source.ts';
import { lookUpUser } from '../oauth/user-endpoint.ts';

/** `GET /api/user`: answers with the provider's record of the token's user, unchanged. */
export function currentUser(source: ProviderSource, client: ProviderClient): Middleware {
  return async (ctx: Context) => {
    const accessToken = parseBearerToken(ctx.req.headersDistinct['authorization'] ?? []);
    const record = await lookUpUser(client, source.current(), accessToken, (call) => {
      ctx.state.providerCall = call;
    });
    ctx.set('Content-Type', 'application/json');
    ctx.body = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  };
}
