import type { FrontEnd } from '../front-ends/front-end.ts';
import type { Served } from '../front-ends/front-ends.ts';
import type { Context } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { deriveCodeChallenge } from '../login/pkce.ts';
import type { FrontEndRequest } from '../login/state.ts';
import { chooseNonce, withAccountWish, withLoginParameters } from '../oauth/authorization-request.ts';

/** Where a login starts. The provider may not have been discovered yet. */
export interface StartPlace extends Served {
  readonly frontEnd: FrontEnd;
}

/**
 * Starts a login, and redirects the browser to the provider. A person must have consented to an unregistered client.
 *
 * @throws {RelayError} `front_end_state_unusable` if the request is too long, or why no provider is known
 */
export function redirectToProvider(
  ctx: Context,
  { registration, frontEnd }: StartPlace,
  request: FrontEndRequest,
): void {
  const { protection } = registration;
  const { authorizationRequestUrl, provider } = registration.current();
  const { takesOAuth, asksForRefresh } = frontEnd;
  const { oauth, state, returnTo, door } = request;
  const { scope } = oauth ?? request;
  // At a front end with OAuth logins, its plain logins get no refresh token.
  const isPlain = oauth === undefined && takesOAuth;
  const urlOfAnyLogin = authorizationRequestUrl({ scope, refresh: asksForRefresh && !isPlain });
  const url = withAccountWish(urlOfAnyLogin, request, provider);
  const login = protection?.start(ctx, frontEnd.name, { oauth, state, returnTo, door });
  const codeChallenge = login && provider.pkce ? deriveCodeChallenge(login.codeVerifier) : undefined;
  const nonce = chooseNonce(scope, login?.nonce);
  redirect(ctx, withLoginParameters(url, { state: login?.state, codeChallenge, nonce }));
}
