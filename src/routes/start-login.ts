import type { Middleware } from 'koa';
import type { Config } from '../config/config.ts';
import { RelayError } from '../errors.ts';
import type { Context, RequestState } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { limits } from '../limits.ts';
import { codeChallenge } from '../login/pkce.ts';
import type { LoginProtection } from '../login/protection.ts';
import { authorizationRequestUrl, withProtection } from '../oauth/authorization-request.ts';
import { parseQuery } from '../oauth/query.ts';
import { derivedFrom, type ProviderSource } from '../upstream/provider-source.ts';

/**
 * `GET /auth/provider`: sends the browser to the provider.
 *
 * @param protection undefined: the bare protocol
 */
export function startLogin(
  config: Config,
  source: ProviderSource,
  protection: LoginProtection | undefined,
): Middleware<RequestState> {
  const bareUrl = derivedFrom(source, (provider) => authorizationRequestUrl(config, provider));
  return async (ctx: Context) => {
    const url = bareUrl();
    if (protection === undefined) {
      redirect(ctx, url);
      return;
    }
    const { state, codeVerifier } = protection.start(ctx, frontEndState(ctx));
    const challenge = source.current().pkce ? codeChallenge(codeVerifier) : undefined;
    redirect(ctx, withProtection(url, { state, codeChallenge: challenge }));
  };
}

function frontEndState(ctx: Context): string {
  if (ctx.querystring === '') return '';
  const state = parseQuery(ctx.querystring)['state'] ?? '';
  const usable = typeof state === 'string' && state.isWellFormed();
  if (usable && [...state].length <= limits.frontEndStateLength) return state;
  throw new RelayError('front_end_state_unusable');
}
