import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context, RequestState } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { limits } from '../limits.ts';
import type { FrontEnd, Registration } from '../login/login.ts';
import { codeChallenge } from '../login/pkce.ts';
import { newNonce, withLoginParameters } from '../oauth/authorization-request.ts';
import { parseQuery } from '../oauth/query.ts';

/** `GET /auth/<registration>`: redirects the browser to the provider. */
export function startLogin(
  registration: Registration,
  frontEnd: FrontEnd,
): Middleware<RequestState> {
  const { protection } = registration;
  return async (ctx: Context) => {
    const url = registration.authorizationRequestUrl();
    const { scope, pkce } = registration.provider();
    const nonce = newNonce(scope);
    if (protection === undefined) {
      redirect(ctx, withLoginParameters(url, { nonce }));
      return;
    }
    const { state, codeVerifier } = protection.start(ctx, frontEnd.name, frontEndState(ctx));
    const challenge = pkce ? codeChallenge(codeVerifier) : undefined;
    redirect(ctx, withLoginParameters(url, { state, codeChallenge: challenge, nonce }));
  };
}

function frontEndState(ctx: Context): string | undefined {
  if (ctx.querystring === '') return undefined;
  const state = parseQuery(ctx.querystring)['state'];
  if (state === undefined || state === '') return undefined;
  const usable = typeof state === 'string' && state.isWellFormed();
  if (usable && [...state].length <= limits.frontEndStateLength) return state;
  throw new RelayError('front_end_state_unusable');
}
