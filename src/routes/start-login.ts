import type { Middleware } from 'koa';
import type { Config } from '../config.ts';
import { RelayError } from '../errors.ts';
import type { Context, RequestState } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { authorizationRequestUrl, withProtection } from '../oauth/authorization-request.ts';
import { parseQuery } from '../oauth/query.ts';
import type { LoginProtection } from '../protection/login-protection.ts';

const longestFrontEndState = 512;

/**
 * `GET /auth/provider`: sends the browser to the provider.
 *
 * @param protection undefined: the bare protocol
 */
export function startLogin(
  config: Config,
  protection: LoginProtection | undefined,
): Middleware<RequestState> {
  const { authorizeUrl } = config.provider;
  const bareUrl = authorizationRequestUrl({ ...config, authorizeUrl });
  return async (ctx: Context) => {
    redirect(
      ctx,
      protection === undefined
        ? bareUrl
        : withProtection(bareUrl, protection.start(ctx, frontEndState(ctx))),
    );
  };
}

function frontEndState(ctx: Context): string {
  const state = parseQuery(ctx.querystring)['state'] ?? '';
  const usable = typeof state === 'string' && state.isWellFormed();
  if (usable && [...state].length <= longestFrontEndState) return state;
  throw new RelayError('front_end_state_unusable');
}
