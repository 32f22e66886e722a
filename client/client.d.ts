/** What the page has to know about its relay. */
export interface LoginOptions {
  /** The address of the login: `https://login.example.com/auth/github`. */
  readonly relay: string;
  /** The name of the front end at the relay: `app`, unless the operator says otherwise. */
  readonly clientId: string;
  /** The origins, besides those of relay and resource, that `fetch` may send the token to: `['https://api.github.com']`. */
  readonly apis?: readonly string[];
  /** The address of the API of your own that the login is for. Only needed if the operator has set several. */
  readonly resource?: string;
  /** The page that logins come back to. Only needed if the relay knows several, or an origin with a `*`. */
  readonly redirectUri?: string;
  /** Set it if the relay keeps the tokens of this front end, and the page gets a cookie. */
  readonly mode?: 'session';
  /** What to ask for: a part of what the operator allows. By default, all of it. */
  readonly scope?: string;
  /** Is told what the client does, and why: `console.debug`. It gets no secret. */
  readonly debug?: (what: string, detail?: unknown) => void;
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
  /** Lets the person choose another account, if the provider can. */
  readonly prompt?: 'select_account';
  /** The account that the person probably logs in with: an address or a login name. */
  readonly loginHint?: string;
}

/** Who the person is, as the API of your own that the login is for is told. */
export interface Identity {
  /** The id at the provider. */
  readonly sub: string;
  /** The login name. It may change. */
  readonly preferred_username?: string;
  /** The primary address, verified by the provider. */
  readonly email?: string;
  readonly groups?: readonly string[];
}

/** A person is logged in. */
export interface Session {
  /** The access token. It may be over: `token()` gives one that is good. In session mode, the page has none. */
  readonly accessToken?: string;
  /** What the token may do, if the provider tells. */
  readonly scope?: string;
  /** What the provider gives besides the token, as the operator has listed it: `{ instance_url: 'https://…' }`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** In session mode: the name of the login at the relay. */
  readonly provider?: string;
  /** When the access token ends, in milliseconds since 1970, if the provider tells. */
  readonly expiresAt?: number | undefined;
}

/**
 * Why the session changed. `login`: somebody has logged in, or their login is restored. `refresh`: the same login has
 * a new token. `user`: the record that `user()` gives is another one. `logout`: the person logged out. `ended`: the login is over, so keep what they typed, and let them log
 * in again.
 */
export type ChangeReason = 'login' | 'refresh' | 'user' | 'logout' | 'ended';

/** The login of this page, and of all tabs with the same relay and front end. */
export interface Login {
  /** Null: the person is not logged in. Undefined: that is not known yet. */
  readonly session: Session | null | undefined;

  /**
   * Settles once a login that comes back is finished, and an earlier one is restored: without a call, except in
   * session mode. It rejects with a LoginError if one of these failed: an earlier login is kept. Offline, the page tries
   * again when it is online.
   */
  readonly ready: Promise<Session | null>;

  /**
   * Starts a login. A login in this page leaves it, so the promise stays open. A login in a popup resolves
   * when the person is logged in.
   *
   * @throws {LoginError} if the login in the popup fails or the person closes it, if `returnTo` is at another
   *   origin, or if the browser blocks storage
   */
  login(request?: LoginRequest): Promise<void>;

  /**
   * Fetches as the person, from the relay, the resource or one of `apis`: with the token, or with the cookie. After a 401 it
   * refreshes the login, at most once in a minute, and tries once more. A second 401 is the answer, and does not
   * end the login. If the person is not logged in, it answers 401 without a request.
   *
   * @throws {LoginError} if the address is at another origin, or the login could not be refreshed for now
   */
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;

  /**
   * An access token that is good now, for other libraries. Null if the person is not logged in, and in session mode.
   *
   * @throws {LoginError} if the login could not be refreshed for now
   */
  token(): Promise<string | null>;

  /**
   * The provider's record of the person. The first lookup of a login is awaited. Later, the client gives the record that
   * it keeps, and looks it up again in the background, once for each load and token. `onChange` tells if it has changed.
   * If the login is for an API of your own: the `Identity`, without a lookup. Null if the person is not logged in when the
   * answer comes. If the provider refuses a token that was just refreshed, the login ends.
   *
   * @throws {LoginError} if the first lookup fails. The person is still logged in.
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
   * Calls the listener when the page is ready, and whenever the session changes, also in another tab. The first
   * call has no reason if the person is not logged in.
   *
   * @returns stops it
   */
  onChange(listener: (session: Session | null, reason?: ChangeReason) => void): () => void;
}

/**
 * Call it once for each login, at the top of a module. Where there is no window, `session` is null, and nothing runs.
 *
 * @throws {TypeError} that names the wrong option
 */
export function createLogin(options: LoginOptions): Login;

/** What failed. `docs/front-end.md` says what to show. */
export type LoginErrorCode =
  // The client's own.
  | 'address_not_allowed'
  | 'issuer_wrong'
  | 'network'
  | 'popup_closed'
  | 'login_left'
  | 'insecure_context'
  | 'frame_foreign'
  | 'return_to_invalid'
  | 'storage_blocked'
  | `http_${number}`
  // OAuth's.
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_dpop_proof'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'use_dpop_nonce'
  // The relay's, in session mode.
  | 'api_of_other_provider'
  | 'app_installed'
  | 'app_requested'
  | 'sso_required'
  | 'application_unapproved'
  | 'user_endpoint_missing'
  | 'address_refused'
  | 'account_restricted'
  | 'authorization_refused'
  | 'bad_request'
  | 'callback_framed'
  | 'client_refused'
  | 'client_unknown'
  | 'code_malformed'
  | 'code_missing'
  | 'code_refused'
  | 'code_too_long'
  | 'cookie_invalid'
  | 'cross_site_refused'
  | 'front_end_state_unusable'
  | 'host_foreign'
  | 'internal_error'
  | 'issuer_mismatch'
  | 'issuer_missing'
  | 'access_unchecked'
  | 'lookup_failed'
  | 'lookup_forbidden'
  | 'lookup_postponed'
  | 'memory_away'
  | 'method_not_allowed'
  | 'origin_foreign'
  | 'overloaded'
  | 'parameter_repeated'
  | 'parameters_too_many'
  | 'path_refused'
  | 'provider_answer_unusable'
  | 'provider_timeout'
  | 'provider_undiscovered'
  | 'provider_unreachable'
  | 'provider_unsupported'
  | 'query_missing'
  | 'rate_limited'
  | 'redirect_uri_refused'
  | 'request_header_missing'
  | 'session_missing'
  | 'session_refused'
  | 'session_token_expired'
  | 'session_too_large'
  | 'state_altered'
  | 'state_expired'
  | 'state_finished'
  | 'state_missing'
  | 'state_premature'
  | 'state_unknown'
  | 'token_endpoint_failed'
  | 'token_invalid'
  | 'token_malformed'
  | 'token_missing'
  | 'token_refused'
  | 'too_many_refusals'
  | 'upload_too_large';

/** A login or a request that failed. The message is a sentence for people. */
export class LoginError extends Error {
  readonly code: LoginErrorCode;
  /** Finds the request in the log of the relay. */
  readonly requestId?: string | null;
  constructor(code: LoginErrorCode, message: string, requestId?: string | null);
}
