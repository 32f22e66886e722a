/** What the page has to know about its relay. */
export interface LoginOptions {
  /** The address of the login: `https://login.example.com/auth/github`. */
  readonly relay: string;
  /** The name of the front end at the relay: `app`, unless the operator says otherwise. */
  readonly clientId: string;
  /** The page that logins come back to. Only needed if the relay knows several, or an origin with a `*`. */
  readonly redirectUri?: string;
  /** Set it if the relay keeps the tokens of this front end, and the page gets a cookie. */
  readonly mode?: 'session';
  /** What to ask for: a part of what the operator allows. By default, all of it. */
  readonly scope?: string;
}

/** What one login differs in from the others of the page. Each field may be left out. */
export interface LoginRequest {
  /** Where to go after the login: a page of this origin that has the client. By default, the present one. */
  readonly returnTo?: string;
  /** Replaces the scope of `createLogin`. */
  readonly scope?: string;
  /**
   * Logs in in a popup, and leaves the page as it is. Call `login` in the click itself. If the browser
   * blocks the popup, the page goes to the login as usual.
   */
  readonly popup?: boolean;
}

/** A person is logged in. */
export interface Session {
  /** The provider's access token. In session mode, the page has none. */
  readonly accessToken?: string;
  /** What the token may do, if the provider tells. */
  readonly scope?: string;
  /** In session mode: the name of the login at the relay. */
  readonly provider?: string;
}

/** The login of this page, and of all tabs with the same relay and front end. */
export interface Login {
  /** Null: nobody is logged in. It is right once `ready` has settled. */
  readonly session: Session | null;

  /**
   * Settles once a login that comes back is finished, and an earlier one is restored. It rejects with a
   * LoginError if one of these failed: an earlier login is kept.
   */
  readonly ready: Promise<Session | null>;

  /**
   * Starts a login. A login in this page leaves it, so the promise stays open. A login in a popup resolves
   * when the person is logged in. If they close the popup, the promise stays open.
   *
   * @throws {LoginError} if the login in the popup fails, if `returnTo` is at another origin, or if the browser
   *   blocks storage
   */
  login(request?: LoginRequest): Promise<void>;

  /**
   * Fetches as the person: with the token, or with the cookie. After a 401 it refreshes the login, at most
   * once in a minute, and tries once more. A second 401 is the answer, and does not end the login. If nobody is
   * logged in, it answers 401 without a request.
   *
   * @throws {LoginError} if the login could not be refreshed for now
   */
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;

  /**
   * The provider's record of the person. Null if nobody is logged in when the answer comes: also if the
   * provider refuses a token that was just refreshed, which ends the login.
   *
   * @throws {LoginError} if the lookup fails. The person is still logged in.
   */
  user<T = Record<string, unknown>>(): Promise<T | null>;

  /**
   * Logs out, in all tabs. The relay revokes the tokens at the provider, if the provider can.
   *
   * @returns in session mode: the address of the provider's own logout, if it has one
   * @throws {LoginError} in session mode: if the relay does not answer. The person is still logged in.
   */
  logout(): Promise<string | undefined>;

  /**
   * Calls the listener when the page is ready, and whenever the session changes, also in another tab.
   *
   * @returns stops it
   */
  onChange(listener: (session: Session | null) => void): () => void;
}

/** Call it once for each relay, when the page loads. */
export function createLogin(options: LoginOptions): Login;

/** A login or a request that failed. The message is a sentence for people. */
export class LoginError extends Error {
  /** What failed. The README of this package lists all codes. */
  readonly code: string;
  /** Finds the request in the log of the relay. */
  readonly requestId?: string | null;
  constructor(code: string, message: string, requestId?: string | null);
}
