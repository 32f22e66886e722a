import { randomBytes } from 'node:crypto';
import { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import { showsSignOfBrowser } from './browser-signs.ts';
import { createTransactionCookies, loginLifetime, type TransactionCookies } from './cookies.ts';
import type { StateKeys } from './keys.ts';
import { codeVerifier } from './pkce.ts';
import {
  createStateSigner,
  newLoginId,
  parseState,
  type ReceivedState,
  type StateSigner,
} from './state.ts';

const clockSkew = 60;
const browserSecretLength = 32;
const onlyFrontEnd = 'app';

/** What protects a login that starts. */
interface ProtectedLogin {
  readonly state: string;
  /** The PKCE verifier. The callback of the same login arrives at the same one. */
  readonly codeVerifier: string;
}

/** A login that was started in the browser of its callback, less than ten minutes ago. */
interface VerifiedLogin {
  readonly id: Buffer;
  /** The PKCE verifier. */
  readonly codeVerifier: string;
}

/** Ties every callback to the browser that started its login, without storing anything. */
export interface LoginProtection {
  /** Starts a login in this browser, and sets its cookie. */
  start(ctx: Context, frontEndState: string): ProtectedLogin;
  /**
   * Verifies that this browser started the login of a callback. The front end's own state is known from
   * then on.
   *
   * @returns undefined for a callback that is excused
   * @throws {RelayError} that says why the callback may not pass
   */
  verify(ctx: Context, state: string | undefined): VerifiedLogin | undefined;
  /** Ends a login: the answer clears its cookie, and the browser remembers that it is finished. */
  end(ctx: Context, login: VerifiedLogin): void;
}

/**
 * @param settings.stateCheck who must bring a state: `browsers`, or `always` everyone
 * @param now milliseconds since 1970
 * @see RFC 9700 §4.7
 */
export function createLoginProtection(
  settings: {
    readonly stateCheck: 'browsers' | 'always';
    readonly clientId: string;
    readonly baseUrl: string;
    /** The registration's name. */
    readonly pathName: string;
    readonly redirectUri: string;
  },
  keys: StateKeys,
  now: () => number,
): LoginProtection {
  const signer = createStateSigner(keys, settings);
  const cookies = createTransactionCookies(settings.redirectUri.startsWith('https:'));
  const seconds = () => Math.floor(now() / 1000);

  return {
    start(ctx, frontEndState) {
      const id = newLoginId();
      const browserSecret = randomBytes(browserSecretLength);
      cookies.set(ctx, id, browserSecret);
      const login = {
        id,
        issuedAt: seconds(),
        registration: settings.pathName,
        frontEnd: onlyFrontEnd,
        frontEndState,
      };
      return {
        state: signer.sign(login, browserSecret),
        codeVerifier: codeVerifier(browserSecret, id),
      };
    },
    verify(ctx, received) {
      if (received === undefined || received === '') {
        const excused = settings.stateCheck === 'browsers' && received === undefined;
        if (!excused || showsSignOfBrowser(ctx.req)) throw new RelayError('state_missing');
        ctx.state.excused = true;
        return undefined;
      }
      const state = parseState(received);
      if (state === undefined) throw new RelayError('state_altered');
      const browserSecret = authenticate(ctx, state, signer, cookies, seconds(), settings.baseUrl);
      const { id, issuedAt, frontEndState } = state.login;
      if (frontEndState !== '') ctx.state.frontEndState = frontEndState;
      const age = seconds() - issuedAt;
      if (age > loginLifetime || age < -clockSkew) {
        cookies.finish(ctx, id);
        throw new RelayError(age < 0 ? 'state_premature' : 'state_expired');
      }
      return { id, codeVerifier: codeVerifier(browserSecret, id) };
    },
    end(ctx, { id }) {
      cookies.finish(ctx, id);
    },
  };
}

/** @returns the secret that this browser keeps for the state, which it proves authentic */
function authenticate(
  ctx: Context,
  state: ReceivedState,
  signer: StateSigner,
  cookies: TransactionCookies,
  now: number,
  baseUrl: string,
): Buffer {
  const { id, issuedAt } = state.login;
  const browserSecret = cookies.get(ctx, id);
  if (browserSecret === undefined) {
    // Nothing proves the state without its cookie: what it claims decides the wording alone.
    if (cookies.isFinished(ctx, id)) throw new RelayError('state_finished');
    if (issuedAt < now - loginLifetime) throw new RelayError('state_expired');
    // Often the start had another name of this host, such as 127.0.0.1, and the cookie belongs to that.
    const detail = `This browser did not start this login at ${baseUrl}, or has forgotten it. Start the login again.`;
    throw new RelayError('state_unknown', { detail });
  }
  if (!signer.verify(state, browserSecret)) throw new RelayError('state_altered');
  return browserSecret;
}
