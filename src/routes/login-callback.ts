import type { Middleware } from 'koa';
import type { Context, RequestState } from '../http/context.ts';
import type { FrontEnd, Login, Registration } from '../login/login.ts';
import {
  type AuthorizationResponse,
  authorizationCode,
  parseAuthorizationResponse,
} from '../oauth/authorization-response.ts';
import type { TokenResponse } from '../oauth/token-response.ts';

/** `GET /auth/<registration>/callback`: ends a login and hands it to the front end. */
export function loginCallback(
  registration: Registration,
  { delivery }: FrontEnd,
): Middleware<RequestState> {
  return async (ctx: Context) => {
    const response = parseAuthorizationResponse(ctx.querystring);
    // Temporary refusals come before the login ends, so that the callback can be retried.
    const provider = registration.provider();
    const login = verify(ctx, registration, response);
    if (login !== undefined) {
      ctx.state.answerFailure = (_, failure) => delivery.fail(ctx, failure, login);
      registration.protection?.checkAge(ctx, login);
    }
    const startsExchange = response.error === undefined && isNew(login, registration);

    async function finish(): Promise<void> {
      if (startsExchange) registration.expectRoom();
      if (login !== undefined) registration.protection?.end(ctx, login);
      const grant = {
        code: authorizationCode(response, provider),
        codeVerifier: provider.pkce ? login?.codeVerifier : undefined,
      };
      const exchange = (): Promise<TokenResponse> =>
        registration.exchangeCode(grant, (call) => {
          ctx.state.providerCall = call;
        });
      ctx.state.codeMayBeSpent = true;
      await delivery.succeed(ctx, login, () =>
        login === undefined ? exchange() : registration.exchanges.once(keyOf(login), exchange),
      );
    }

    await (startsExchange ? registration.limitExchange(ctx.req, finish) : finish());
  };
}

/** @returns undefined if the callback is excused from the state check */
function verify(
  ctx: Context,
  { protection }: Registration,
  response: AuthorizationResponse,
): Login | undefined {
  // An error spends nothing. It is answered even if the provider lost the state.
  if (response.error !== undefined && response.state === undefined) return undefined;
  return protection?.verify(ctx, response.state);
}

/** Whether the code would be exchanged now: a repeated callback joins the exchange in flight. */
function isNew(login: Login | undefined, { exchanges }: Registration): boolean {
  return login === undefined || !exchanges.has(keyOf(login));
}

function keyOf({ id }: Login): string {
  return id.toString('base64url');
}
