import type { Middleware } from 'koa';
import type { Config } from '../config/config.ts';
import type { Context, RequestState } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import type { LoginProtection } from '../login/protection.ts';
import { authorizationCode, parseAuthorizationResponse } from '../oauth/authorization-response.ts';
import type { ProviderClient } from '../upstream/client.ts';
import { derivedFrom, type ProviderSource } from '../upstream/provider-source.ts';
import { exchangeCode } from '../upstream/token-endpoint.ts';
import { frontEndUrl } from './front-end-url.ts';

/**
 * `GET /auth/provider/callback`: exchanges the code and hands the token to the front end.
 *
 * @param protection undefined: the bare protocol
 */
export function loginCallback(
  config: Config,
  source: ProviderSource,
  client: ProviderClient,
  protection: LoginProtection | undefined,
): Middleware<RequestState> {
  const endpoint = derivedFrom(source, (provider) => ({ ...provider, ...clientOf(config) }));
  return async (ctx: Context) => {
    if (config.errorDelivery === 'redirect') deliverFailures(ctx, config);
    const response = parseAuthorizationResponse(ctx.querystring);
    // An error spends nothing: it is told even where the provider lost the state.
    const checked = response.error === undefined || response.state !== undefined;
    // Before the login is ended: while the provider is not known, the callback can be tried again.
    const provider = source.current();
    const verifier = checked ? protection?.finish(ctx, response.state) : undefined;
    const grant = {
      code: authorizationCode(response, provider),
      codeVerifier: provider.pkce ? verifier : undefined,
    };
    const accessToken = await exchangeCode(client, endpoint(), grant, (call) => {
      ctx.state.providerCall = call;
    });
    const { frontEndState: state } = ctx.state;
    redirect(ctx, frontEndUrl(config, { access_token: accessToken, state }));
  };
}

function clientOf({ clientId, clientSecret, redirectUri }: Config) {
  return { clientId, clientSecret, redirectUri };
}

function deliverFailures(ctx: Context, config: Config): void {
  ctx.state.failureTarget = ({ code, detail }) =>
    frontEndUrl(config, {
      error: code,
      error_description: detail,
      request_id: ctx.state.requestId,
      state: ctx.state.frontEndState,
    });
}
