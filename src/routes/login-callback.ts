import type { Delivery } from '../delivery/delivery.ts';
import { RelayError } from '../errors.ts';
import {
  type Context,
  claimedQuery,
  type Handler,
  readQuery,
  recordCall,
} from '../http/context.ts';
import { answerFailures } from '../http/error-responder.ts';
import { expectNoFrame } from '../http/request-guards.ts';
import type { Login } from '../login/state.ts';
import { authorizationCode } from '../oauth/authorization-response.ts';
import { single } from '../oauth/query.ts';
import type { CodeGrant } from '../oauth/token-request.ts';
import { admit } from './admission.ts';
import type { Served } from './front-ends.ts';
import { firstGrant } from './refresh-login.ts';

/** `GET /auth/<registration>/callback`: ends a login and hands it to the front end. */
export function loginCallback(served: Served): Handler {
  const { registration: registered, frontEnds } = served;
  const { exchanges, protection } = registered;
  return async (ctx: Context) => {
    expectNoFrame(ctx);
    const query = readQuery(ctx);
    const state = single(query['state']);
    const registration = registered.pinned();
    const { provider } = registration;
    // An error spends nothing. It is answered even if the provider lost the state.
    const isExcused = query['error'] !== undefined && state === undefined;
    const login = isExcused ? undefined : protection?.verify(ctx, state);
    const frontEnd = login === undefined ? frontEnds.byDefault : frontEnds.ofLogin(login);
    if (frontEnd === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    const place = { ...served, registration, frontEnd };
    const address = registration.addressOf(ctx.req);
    const delivery = frontEnd.deliveryOf(login?.request);
    if (login !== undefined) {
      ctx.state.answerFailure = delivery.fail;
      protection?.checkAge(ctx, login);
    }

    const exchange = async (grant: CodeGrant, spend: () => void) => {
      const tokens = await registration.limitExchange(address, async () => {
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
        address,
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

function keyOf({ id }: Login): string {
  return id.toString('base64url');
}

/**
 * Lets a front end's delivery answer the failures of everything that follows, at a callback. Its state
 * says what the login was started with, but not in which browser.
 */
export function deliverCallbackFailures(served: Served): Handler {
  const { answerFailure, answerInPlace } = served.frontEnds.first;
  return answerFailures((ctx, failure) => {
    const deliver = startedDelivery(ctx, served)?.fail ?? answerInPlace;
    // Browsers keep a prefetched redirect, and would show its error instead of the login.
    const answer = failure.code === 'prefetch_refused' ? answerFailure : deliver;
    answer(ctx, failure);
  });
}

/** @returns undefined if the front end of the login is gone or not known: the failure does not concern the others */
function startedDelivery(ctx: Context, { frontEnds, states }: Served): Delivery | undefined {
  const { state } = claimedQuery(ctx);
  const login = states.peek(state);
  if (login === undefined) {
    const isOfDefault = state === undefined || frontEnds.isOnlyOne;
    return isOfDefault ? frontEnds.byDefault.deliveryOf() : undefined;
  }
  const frontEnd = frontEnds.ofLogin(login);
  if (frontEnd === undefined) return undefined;
  ctx.state.frontEnd = frontEnd.name;
  // Anybody could register an address for it: only the browser of the login goes there. @see RFC 9700 §4.11.2
  if (login.request.oauth?.client !== undefined) return undefined;
  // A page with a session gets its state only with failures, so that is no proof of a login.
  const isExpected = login.request.oauth !== undefined || frontEnd.tokenDelivery === 'session';
  return frontEnd.deliveryOf(isExpected ? login.request : undefined);
}
