import type { Middleware } from 'koa';
import type { Config } from '../config/config.ts';
import type { Context, RequestState } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import type { Exchanges } from '../login/exchanges.ts';
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
  exchanges: Exchanges,
): Middleware<RequestState> {
  const endpoint = derivedFrom(source, (provider) => ({ ...provider, ...clientOf(config) }));
  return async (ctx: Context) => {
    if (config.errorDelivery === 'redirect') deliverFailures(ctx, config);
    const response = parseAuthorizationResponse(ctx.querystring);
    // An error spends nothing: it is told even where the provider lost the state.
    const checked = response.error === undefined || response.state !== undefined;
    // Whatever may refuse the callback for a while comes before the login ends: it can be tried again.
    const provider = source.current();
    const login = checked ? protection?.verify(ctx, response.state) : undefined;
    const id = login?.id.toString('base64url');
    const isNew = id === undefined || !exchanges.has(id);
    if (isNew && response.error === undefined) client.expectRoom('token');
    if (login) protection?.end(ctx, login);
    const grant = {
      code: authorizationCode(response, provider),
      codeVerifier: provider.pkce ? login?.codeVerifier : undefined,
    };
    const exchange = () =>
      exchangeCode(client, endpoint(), grant, (call) => {
        ctx.state.providerCall = call;
      });
    ctx.state.codeMayBeSpent = true;
    const accessToken = await (id === undefined ? exchange() : exchanges.once(id, exchange));
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
