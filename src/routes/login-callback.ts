import type { Middleware } from 'koa';
import type { Config } from '../config.ts';
import type { Context } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { parseAuthorizationResponse } from '../oauth/authorization-response.ts';
import type { ProviderClient } from '../oauth/provider-client.ts';
import { exchangeCode } from '../oauth/token-endpoint.ts';

/** `GET /auth/provider/callback`: exchanges the code and hands the token to the front end. */
export function loginCallback(config: Config, client: ProviderClient): Middleware {
  const endpoint = { ...config.provider, ...config };
  return async (ctx: Context) => {
    const { code } = parseAuthorizationResponse(ctx.querystring);
    const accessToken = await exchangeCode(client, endpoint, code, (call) => {
      ctx.state.providerCall = call;
    });
    redirect(ctx, frontendUrlWith(config, { access_token: accessToken }));
  };
}

function frontendUrlWith(
  { frontendUrl, tokenDelivery }: Config,
  parameters: Record<string, string>,
): string {
  const url = new URL(frontendUrl);
  if (tokenDelivery === 'fragment') {
    url.hash = new URLSearchParams(parameters).toString();
  } else {
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  }
  return url.href;
}
