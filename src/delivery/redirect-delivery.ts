import type { RelayError } from '../errors.ts';
import type { Codes } from '../grants/codes.ts';
import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import { redirect } from '../http/redirect.ts';
import type { OAuthRequest } from '../login/state.ts';
import { optional, withParameters } from '../oauth/query.ts';
import type { SessionLogin, Sessions } from '../session/sessions.ts';
import type { Delivery } from './delivery.ts';

type Parameters = Readonly<Record<string, string | undefined>>;

/** Where a login is redirected to. */
export interface Target {
  readonly url: string;
  /** The part of the URL that carries the parameters. */
  readonly part: 'query' | 'fragment';
  /** Parameters of every answer, such as the front end's own `state`. */
  readonly parameters: Parameters;
}

/** The contract's delivery: exchanges the code, and redirects to the front end with `access_token`. */
export function redirectDelivery(target: Target, fail: AnswerFailure): Delivery {
  return {
    redirects: true,
    async succeed(ctx, { exchange }) {
      const { accessToken } = await exchange();
      redirectTo(ctx, target, { access_token: accessToken });
    },
    fail,
  };
}

/**
 * The delivery of an OAuth request: redirects to the front end with a code of the relay. This code
 * contains the provider's code, which is exchanged when the front end redeems the relay's code.
 *
 * @param issuer the relay's name in `iss`
 * @param frontEnd the audience of the front end
 * @param state the front end's own `state`
 * @see RFC 6749 §4.1.2, RFC 9207 §2
 */
export function codeDelivery(
  { codes, issuer }: { readonly codes: Codes; readonly issuer: string },
  frontEnd: string,
  { redirectUri, codeChallenge, resource }: OAuthRequest,
  state: string | undefined,
): Delivery {
  const target = { url: redirectUri, part: 'query', parameters: { state, iss: issuer } } as const;
  return {
    redirects: true,
    async succeed(ctx, { code: providerCode, codeVerifier }) {
      const content = { redirectUri, codeChallenge, providerCode, codeVerifier, resource };
      redirectTo(ctx, target, { code: codes.issue(content, frontEnd) });
    },
    fail: failureRedirect(target, ({ oauthError }) => oauthError),
  };
}

/**
 * The delivery of a front end that holds no token: exchanges the code, seals the tokens into the front end's
 * cookie, and redirects to its page.
 *
 * @param loginOf gives whose session it is
 * @param page inside the front end's origin
 * @see RFC 10017 §6.1
 */
export function sessionDelivery(
  sessions: Sessions,
  loginOf: () => SessionLogin,
  page: string,
  fail: AnswerFailure,
): Delivery {
  return {
    redirects: true,
    async succeed(ctx, { exchange }) {
      // Discovery may find another provider during the exchange.
      const login = loginOf();
      sessions.start(ctx, login, await exchange());
      redirect(ctx, page);
    },
    fail,
  };
}

/** Redirects failures with `error`, `error_description` and `request_id`. */
export function failureRedirect(
  target: Target,
  errorOf: (failure: RelayError) => string,
): AnswerFailure {
  return (ctx, failure) => {
    const { requestId } = ctx.state;
    const parameters = { error: errorOf(failure), error_description: failure.detail };
    redirectTo(ctx, target, { ...parameters, request_id: requestId });
  };
}

function redirectTo(ctx: Context, { url, part, parameters }: Target, more: Parameters): void {
  redirect(ctx, withPart(url, part, { ...more, ...parameters }));
}

/** The URL with parameters in one of its parts. Parameters that are undefined are left out. */
export function withPart(url: string, part: Target['part'], parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) => optional(name, value));
  const target =
    part === 'query' ? withParameters(url, given) : `${url}#${new URLSearchParams(given)}`;
  // Pages that decode with decodeURIComponent would read "+" as a plus sign.
  return url + target.slice(url.length).replaceAll('+', '%20');
}
