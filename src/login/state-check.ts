import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Clock, clockSkew, nowInSeconds } from '../clock.ts';
import { RelayError, undefinedIfFailed } from '../failures/relay-error.ts';
import { type Context, truncatedQuery } from '../http/context.ts';
import { hasRelayCookie } from '../http/cookies.ts';
import { times } from '../times.ts';
import { isHttps } from '../urls.ts';
import { createLoginCookies } from './cookies.ts';
import { browserSecretLength, deriveLoginParts } from './pkce.ts';
import type { FrontEndRequest, Login, LoginState, States } from './state.ts';

export type LoginProtection = ReturnType<typeof createLoginProtection>;

/**
 * The state check, against login CSRF: binds every callback to the browser that started its login, by the parameter
 * `state` and a cookie that belong together. Nothing is stored.
 *
 * @param settings.stateCheck which callbacks must have a state: `always` all, or only the callbacks of `browsers`
 * @see RFC 9700 §4.7
 */
export function createLoginProtection(
  settings: {
    readonly stateCheck: 'browsers' | 'always';
    readonly baseUrl: string;
    readonly callbackUri: string;
  },
  states: States,
  now: Clock,
) {
  const cookies = createLoginCookies(isHttps(settings.callbackUri));
  const seconds = () => nowInSeconds(now);

  /** The failure of a callback whose browser does not have the cookie of the login. */
  function whyCookieIsMissing(ctx: Context, { id, issuedAt }: Pick<LoginState, 'id' | 'issuedAt'>): RelayError {
    if (cookies.isFinished(ctx, id)) return new RelayError('state_finished');
    if (issuedAt < seconds() - times.login) return new RelayError('state_expired');
    // A common cause is that the login started at another name of this host, such as 127.0.0.1, to which the cookie
    // belongs.
    const detail = `This browser did not start this login at ${settings.baseUrl}, or has forgotten it. Start the login again.`;
    return new RelayError('state_unknown', { detail });
  }

  return {
    /**
     * Starts a login in this browser, and sets its cookies.
     *
     * @param frontEnd the name of the front end
     * @returns the parameter `state`, with the PKCE verifier and the nonce, which the callback derives again
     * @throws {RelayError} `front_end_state_unusable` if the request is too long
     */
    start(ctx: Context, frontEnd: string, request: FrontEndRequest) {
      const browserSecret = randomBytes(browserSecretLength);
      const { id, codeVerifier, nonce } = deriveLoginParts(browserSecret);
      const { state, kept } = states.seal({ id, issuedAt: seconds(), frontEnd, request });
      cookies.set(ctx, id, browserSecret, kept);
      return { state, codeVerifier, nonce };
    },
    /**
     * Verifies that this browser started the login of a callback, because state and cookie belong together.
     *
     * @param received the parameter `state`
     * @returns undefined if the callback needs no state, because no browser sends it
     * @throws {RelayError} `state_missing`, `state_altered`, `state_unknown`, `state_finished`, `state_expired` or
     *   `cookie_invalid`
     */
    verifyState(ctx: Context, received: string | undefined): Login | undefined {
      if (received === undefined || received === '') {
        const mayBeMissing = settings.stateCheck === 'browsers' && received === undefined;
        if (!mayBeMissing || showsSignOfBrowser(ctx.req)) throw new RelayError('state_missing');
        // The log and the metrics show callbacks that were excused from the check.
        ctx.state.excused = true;
        return undefined;
      }
      const login = states.open(received, (id) => cookies.findKept(ctx, id));
      if (login === undefined) throw new RelayError('state_altered');
      const browserSecret = cookies.get(ctx, login.id);
      if (browserSecret === undefined) throw whyCookieIsMissing(ctx, login);
      const { id, codeVerifier, nonce } = deriveLoginParts(browserSecret);
      // The cookie was found by a part of the id. The rest must match as well.
      if (!timingSafeEqual(id, login.id)) throw new RelayError('state_altered');
      const { request } = login;
      // Newer logins have overwritten the cookies that held the request.
      if (request === undefined) throw whyCookieIsMissing(ctx, login);
      return { ...login, request, codeVerifier, nonce };
    },
    /**
     * Requires that a login is neither too old nor from the future. Otherwise it ends the login.
     *
     * @throws {RelayError} `state_expired` or `state_premature`
     */
    expectFresh(ctx: Context, { id, issuedAt }: Login): void {
      const age = seconds() - issuedAt;
      if (age <= times.login && age >= -clockSkew) return;
      cookies.finish(ctx, id);
      throw new RelayError(age < 0 ? 'state_premature' : 'state_expired');
    },
    /** Ends a login by clearing its cookies. The browser remembers that the login is finished. */
    end(ctx: Context, { id }: Login): void {
      cookies.finish(ctx, id);
    },
  };
}

/**
 * Reads the login in the `state` of a request, to answer a failure. It does not prove that this browser started the
 * login. It fails neither at too many parameters nor at a malformed cookie, because these failures have to be answered
 * as well. It returns undefined if nothing says where the failure may go.
 */
export type PeekLogin = (ctx: Context) => LoginState | undefined;

export function createPeekLogin(states: States, callbackUri: string): PeekLogin {
  const cookies = createLoginCookies(isHttps(callbackUri));
  return (ctx) => states.peek(truncatedQuery(ctx)['state'], (id) => undefinedIfFailed(() => cookies.findKept(ctx, id)));
}

const browserHeaders = [
  'sec-fetch-site',
  'sec-fetch-dest',
  'sec-fetch-user',
  'origin',
  'referer',
  'upgrade-insecure-requests',
] as const;

/**
 * Whether a request shows any sign of a browser. A page cannot remove all of these headers from requests that it
 * causes. `Sec-Fetch-Mode` alone is no sign, because Node's `fetch` sends it too.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
function showsSignOfBrowser({ headers }: IncomingMessage): boolean {
  return (
    browserHeaders.some((name) => headers[name] !== undefined) ||
    headers['sec-fetch-mode'] === 'navigate' ||
    headers['user-agent']?.includes('Mozilla/') === true ||
    headers.accept?.includes('text/html') === true ||
    hasRelayCookie(headers.cookie)
  );
}
