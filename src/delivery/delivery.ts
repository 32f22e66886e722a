import type { RelayError } from '../failures/relay-error.ts';
import type { Codes } from '../grants/codes.ts';
import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import { redirect } from '../http/redirect.ts';
import type { OAuthRequest } from '../login/state.ts';
import type { ExtraFields } from '../oauth/extra-fields.ts';
import { optionalParameter, withParameters } from '../oauth/query.ts';
import type { CodeGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { SessionLogin, Sessions } from '../session/sessions.ts';

/** How a login reaches its front end: with its token, or with an unspent code; or with its failure. */
export type Delivery = DeliveryOf<'token', GrantedToken> | DeliveryOf<'code', GrantedCode>;

interface DeliveryOf<Takes, Granted> {
  /** Whether the callback exchanges the code for a token, or leaves that to the front end. */
  readonly takes: Takes;
  /** Answers the callback of a login. @throws {RelayError} if the front end cannot get the token or code */
  succeed(ctx: Context, granted: Granted): void;
  readonly fail: AnswerFailure;
}

interface GrantedToken {
  /** The tokens of the provider. A front end may get the access token, and never the refresh token. */
  readonly token: TokenResponse;
  /** The audience of the registration, to which a session is bound. */
  readonly audience: string;
  /** Returns the token with a refresh token of the relay, if the front end may have any, in place of the provider's. */
  forFrontEnd(): TokenResponse;
}

interface GrantedCode extends CodeGrant {
  /** The nonce of the ID token, if the ID token says who the person is. */
  readonly nonce: string | undefined;
  /** The client address of the login, if it is known. */
  readonly address: string | undefined;
  readonly extraFields: ExtraFields | undefined;
}

/** The address of a front end, and the part of it that gets the parameters of an answer. */
export interface Target {
  readonly url: string;
  readonly part: 'query' | 'fragment';
  /** Parameters of every answer, such as the front end's own `state`. */
  readonly parameters: Parameters;
}

type Parameters = Readonly<Record<string, string | undefined>>;

/** Creates the delivery that the contract describes: it exchanges the code, and redirects to the front end with `access_token`. */
export function createAccessTokenDelivery(target: Target, fail: AnswerFailure): Delivery {
  return {
    takes: 'token',
    succeed(ctx, { token: { accessToken } }) {
      redirect(ctx, addressAt(target, { access_token: accessToken }));
    },
    fail,
  };
}

/**
 * Creates the delivery of an OAuth request: it redirects to the front end with a code of the relay. That contains the
 * provider's code, which the relay exchanges when the front end redeems its own code.
 *
 * @param issuer the relay's name in `iss`
 * @param frontEndAudience binds the code to the front end or to its client, so that the code need not contain the client
 * @param state the front end's own `state`
 * @see RFC 6749 §4.1.2, RFC 9207 §2
 */
export function createCodeDelivery(
  { codes, issuer }: { readonly codes: Codes; readonly issuer: string },
  frontEndAudience: string,
  { client, ...request }: OAuthRequest,
  state: string | undefined,
): Delivery {
  const parameters = { state, iss: issuer };
  const target = { url: request.redirectUri, part: 'query', parameters } as const;
  return {
    takes: 'code',
    succeed(ctx, { code: providerCode, codeVerifier, nonce, address, extraFields }) {
      // Charge the address of the login, not of the redemption, because any page could make its visitors redeem the
      // code of an unregistered client, and use up their limits.
      const ofClient = client === undefined ? {} : { address };
      const content = { ...request, ...ofClient, providerCode, codeVerifier, nonce, extraFields };
      redirect(ctx, addressAt(target, { code: codes.issue(content, frontEndAudience) }));
    },
    fail: createFailureRedirect(target, ({ oauthError }) => oauthError),
  };
}

/**
 * Creates the delivery to a page that must not see tokens: it exchanges the code, seals the tokens into a cookie, and
 * redirects to the page.
 *
 * @param login the registration and the front end of the session
 * @param page the page that the browser returns to, inside the front end's origin
 * @see RFC 10017 §6.1
 */
export function createSessionDelivery(
  sessions: Sessions,
  login: Omit<SessionLogin, 'audience'>,
  page: string,
  fail: AnswerFailure,
): Delivery {
  return {
    takes: 'token',
    succeed(ctx, { token, audience }) {
      sessions.start(ctx, { ...login, audience }, token);
      redirect(ctx, page);
    },
    fail,
  };
}

/** Creates the answer that redirects failures to a front end. @param errorOf chooses the value of `error` */
export function createFailureRedirect(target: Target, errorOf: (failure: RelayError) => string): AnswerFailure {
  return (ctx, failure) => {
    const parameters = {
      error: errorOf(failure),
      error_description: failure.detail,
      request_id: ctx.state.requestId,
    };
    redirect(ctx, addressAt(target, parameters));
  };
}

/** The address of a target, with more parameters. Undefined parameters are left out. */
export function addressAt({ url, part, parameters }: Target, more: Parameters): string {
  const all = Object.entries({ ...more, ...parameters });
  const given = all.flatMap(([name, value]) => optionalParameter(name, value));
  const address = part === 'query' ? withParameters(url, given) : `${url}#${new URLSearchParams(given)}`;
  // Pages that use decodeURIComponent would read "+" as a plus sign. The front end's own URL stays as it is.
  return url + address.slice(url.length).replaceAll('+', '%20');
}
