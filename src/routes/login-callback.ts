import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import { type Context, type RequestState, readQuery, recordCall } from '../http/context.ts';
import type { Registration } from '../login/registration.ts';
import type { Login } from '../login/state.ts';
import { authorizationCode } from '../oauth/authorization-response.ts';
import { type Query, single } from '../oauth/query.ts';
import type { CodeGrant } from '../oauth/token-request.ts';
import { admit } from './admission.ts';
import type { Served } from './front-ends.ts';
import { firstGrant } from './granting.ts';

/** `GET /auth/<registration>/callback`: ends a login and hands it to the front end. */
export function loginCallback(served: Served): Middleware<RequestState> {
  const { registration: registered, frontEnds } = served;
  const { exchanges, protection } = registered;
  return async (ctx: Context) => {
    const query = readQuery(ctx);
    const state = single(query['state']);
    const registration = registered.pinned();
    const provider = registration.provider();
    const login = verify(ctx, registration, query, state);
    const frontEnd = login === undefined ? frontEnds.byDefault : frontEnds.ofLogin(login);
    if (frontEnd === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    const place = { ...served, registration, frontEnd };
    const delivery = frontEnd.deliveryOf(login?.request);
    if (login !== undefined) {
      ctx.state.answerFailure = delivery.fail;
      protection?.checkAge(ctx, login);
    }

    const exchange = async (grant: CodeGrant, spend: () => void) => {
      const tokens = await registration.limitExchange(ctx.req, async () => {
        registration.expectRoom();
        spend();
        ctx.state.codeMayBeSpent = true;
        const token = await registration.requestToken(grant, recordCall(ctx));
        frontEnd.reportScope(token.scope, provider.scope);
        return token;
      });
      // Before anything leaves the relay.
      await admit(place, ctx, tokens);
      return tokens;
    };

    let wantsExchange = false;
    try {
      const code = authorizationCode(query, provider);
      const grant = { code, codeVerifier: provider.pkce ? login?.codeVerifier : undefined };
      await delivery.succeed(ctx, {
        ...grant,
        forFrontEnd: (token) => firstGrant(place, token),
        exchange() {
          wantsExchange = true;
          if (login === undefined) return exchange(grant, () => {});
          // A repeated callback joins the first one here, also while that one waits for its turn.
          return exchanges.once(keyOf(login), (spend) => exchange(grant, spend));
        },
      });
    } finally {
      if (login !== undefined) {
        if (exchanges.has(keyOf(login))) ctx.state.codeMayBeSpent = true;
        // A refusal before the code is sent is temporary: the login stays open.
        const canBeRetried = wantsExchange && !ctx.state.codeMayBeSpent;
        if (!canBeRetried) protection?.end(ctx, login);
      }
    }
  };
}

/** @returns undefined if the callback is excused from the state check */
function verify(
  ctx: Context,
  { protection }: Registration,
  { error }: Query,
  state: string | undefined,
): Login | undefined {
  // An error spends nothing. It is answered even if the provider lost the state.
  if (error !== undefined && state === undefined) return undefined;
  return protection?.verify(ctx, state);
}

function keyOf({ id }: Login): string {
  return id.toString('base64url');
}
