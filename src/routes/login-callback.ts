import type { Delivery } from '../delivery/delivery.ts';
import { type FailureCode, isFailure, RelayError } from '../failures/relay-error.ts';
import type { Place, Served } from '../front-ends/front-ends.ts';
import { type Context, type Handler, readQuery, recordCall, truncatedQuery } from '../http/context.ts';
import { answerFailures, withFailureAnswer } from '../http/error-responder.ts';
import { expectNoFrame } from '../http/request-guards.ts';
import type { Login } from '../login/state.ts';
import type { LoginProtection } from '../login/state-check.ts';
import { requireCode, whyNoLogin } from '../oauth/authorization-response.ts';
import { mergeFields, readCallbackFields } from '../oauth/extra-fields.ts';
import { type Query, readSingle } from '../oauth/query.ts';
import type { CodeGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { admit, revokeSilently } from './admission.ts';
import { grantFirstToken } from './granted-token.ts';

/** `GET /auth/<registration>/callback`: finishes a login and delivers it to the front end. */
export function loginCallback(served: Served): Handler {
  const { registration: registered, frontEnds } = served;
  const { protection } = registered;
  return async (ctx: Context) => {
    expectNoFrame(ctx);
    const query = readQuery(ctx);
    const state = readSingle(query['state']);
    const registration = registered.current();
    // Some providers drop the state from an error. It has no code that somebody could misuse, so it is delivered
    // anyway.
    const isErrorWithoutState = query['error'] !== undefined && state === undefined;
    const login = isErrorWithoutState ? undefined : verifyLogin(protection, ctx, query);
    const frontEnd = login === undefined ? frontEnds.byDefault : frontEnds.findForLogin(login);
    if (frontEnd === undefined) throw new RelayError('front_end_gone');
    ctx.state.frontEnd = frontEnd.name;
    const callback = { ...served, registration, frontEnd, ctx, query, login };
    const delivery = frontEnd.deliveryOf(login?.request);
    if (login === undefined) {
      await deliver(callback, delivery);
      return;
    }
    await withFailureAnswer(delivery.fail, async () => {
      protection?.expectFresh(ctx, login);
      try {
        await deliver(callback, delivery);
      } finally {
        if (!ctx.state.callbackMayBeRetried) protection?.end(ctx, login);
      }
    });
  };
}

/**
 * Requires that this browser started the login of a callback.
 *
 * @returns undefined if the registration has no state check (`protection`), or `verifyState` excuses the callback from
 *   the check
 * @throws {RelayError} why there is no valid state
 */
function verifyLogin(protection: LoginProtection | undefined, ctx: Context, query: Query): Login | undefined {
  try {
    return protection?.verifyState(ctx, readSingle(query['state']));
  } catch (error) {
    // Without a state, the query may still say what happened: an App was installed, or a proxy removed the query.
    const explanation = isFailure(error, 'state_missing') ? whyNoLogin(query) : undefined;
    throw explanation ?? error;
  }
}

interface Callback extends Place {
  readonly ctx: Context;
  readonly query: Query;
  /** Undefined if no state check was made: it is off, excused, or the callback is an error without a state. */
  readonly login: Login | undefined;
}

/**
 * Delivers the login to the front end, either with its unspent code, or with the token for which it exchanges the code.
 */
async function deliver(callback: Callback, delivery: Delivery): Promise<void> {
  const { ctx, registration, frontEnd, query, login } = callback;
  const { provider, audience } = registration;
  const code = requireCode(query, provider);
  const grant = { code, codeVerifier: provider.pkce ? login?.codeVerifier : undefined };
  const extraFields = readCallbackFields(query, provider);
  frontEnd.reportMissingFields(provider.callbackFields, extraFields);
  if (delivery.takes === 'code') {
    // Only a check of the ID token needs the nonce. Other codes are shorter without it.
    const nonce = provider.userFrom === 'id-token' ? login?.nonce : undefined;
    delivery.succeed(ctx, { ...grant, nonce, address: registration.addressOf(ctx.req), extraFields });
    return;
  }
  const exchanged = await exchangeOnce(callback, grant);
  const token = { ...exchanged, extraFields: mergeFields(exchanged.extraFields, extraFields) };
  const chargedAddress = registration.addressOf(ctx.req);
  const grantee = { registration, frontEnd, resource: undefined, chargedAddress };
  try {
    delivery.succeed(ctx, { token, audience, forFrontEnd: () => grantFirstToken(callback, grantee, token) });
  } catch (error) {
    // The front end did not get the tokens, for example because they do not fit into a session's cookie, so they are
    // revoked.
    const { grants } = callback;
    await grants.revocations.revokeOnce(token, async () => revokeSilently(registration, token));
    throw error;
  }
}

/**
 * Exchanges the code of a login once. A repeated callback shares the result, also while the first one waits for its
 * turn.
 */
async function exchangeOnce(callback: Callback, grant: CodeGrant): Promise<TokenResponse> {
  const { ctx, login, registration } = callback;
  if (login === undefined) return await exchange(callback, grant, () => {});
  const key = login.id.toString('base64url');
  try {
    return await registration.exchanges.exchangeOnce(key, (noteSent) => exchange(callback, grant, noteSent));
  } finally {
    if (registration.exchanges.hasBegun(key)) ctx.state.codeMayBeSpent = true;
    // If the code was not sent, the login stays open, so that the callback can be opened again.
    ctx.state.callbackMayBeRetried = !ctx.state.codeMayBeSpent;
  }
}

/** Exchanges the code of a callback for a token, and admits the person. @param noteSent called before the code is sent */
async function exchange(callback: Callback, grant: CodeGrant, noteSent: () => void) {
  const { ctx, registration, frontEnd, login } = callback;
  const token = await registration.limitExchange(registration.addressOf(ctx.req), async () => {
    registration.expectRoom();
    noteSent();
    ctx.state.codeMayBeSpent = true;
    return await registration.requestToken(grant, recordCall(ctx), frontEnd.answerRule);
  });
  frontEnd.reportScope(token.scope, registration.provider.scope);
  frontEnd.reportMissingFields(registration.provider.tokenFields, token.extraFields);
  // No token leaves the relay before the person is admitted.
  await admit(callback, ctx, token, login?.nonce);
  return token;
}

/**
 * Delivers failures of a callback to its front end. The state tells which front end it is, but does not prove that this
 * browser started the login.
 */
export function deliverCallbackFailures(served: Served): Handler {
  const { answerFailure, answerInPlace } = served.frontEnds.first;
  return answerFailures((ctx, failure) => {
    const fail = findDeliveryOfFailure(ctx, served)?.fail ?? answerInPlace;
    // A page or JSON, as the front end's `error-delivery` says.
    if (withoutRedirect.has(failure.code)) answerFailure(ctx, failure);
    // A page, whatever `error-delivery` says.
    else if (afterInstallation.has(failure.code)) answerInPlace(ctx, failure);
    else fail(ctx, failure);
  });
}

/**
 * Failures that must not redirect. Browsers keep a prefetched redirect, and would show its error instead of the login.
 * A request with another method than GET is no callback.
 */
const withoutRedirect: ReadonlySet<FailureCode> = new Set<FailureCode>(['prefetch_refused', 'method_not_allowed']);

/** GitHub sends people here after they installed its App. No front end has started a login. */
const afterInstallation: ReadonlySet<FailureCode> = new Set<FailureCode>(['app_installed', 'app_requested']);

/**
 * Finds where to deliver the failure of a callback, although its browser may not have started the login.
 *
 * @returns undefined if the relay has to show the failure itself
 */
function findDeliveryOfFailure(ctx: Context, { frontEnds, peekLogin }: Served): Delivery | undefined {
  const { state } = truncatedQuery(ctx);
  const login = peekLogin(ctx);
  if (login === undefined) {
    // A callback without a state goes to the default front end. A state that does not open may be of any front end.
    const isOfDefault = state === undefined || frontEnds.isOnlyOne;
    return isOfDefault ? frontEnds.byDefault.deliveryOf() : undefined;
  }
  const frontEnd = frontEnds.findForLogin(login);
  if (frontEnd === undefined) return undefined;
  ctx.state.frontEnd = frontEnd.name;
  // Anybody can register a client with any redirect URI, so a redirect there would make the relay an open redirector.
  // @see RFC 9700 §4.11.2
  if (login.request.oauth?.client !== undefined) return undefined;
  // A page with plain logins takes its own state as proof that its login has ended, so another browser must not get it.
  // With OAuth, PKCE is the proof. A page with sessions gets its state only with failures.
  const mayHaveState = login.request.oauth !== undefined || frontEnd.tokenDelivery === 'session';
  return frontEnd.deliveryOf(mayHaveState ? login.request : undefined);
}
