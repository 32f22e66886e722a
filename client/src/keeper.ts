import type { Identity, Session } from '../client.d.ts';

/**
 * A session, with data that pages need not know. In session mode, these are undefined, because only the relay knows
 * them.
 */
export interface Known extends Session {
  /** The same in all sessions of one login. */
  readonly id: string;
  /** When to renew it, in milliseconds since 1970. */
  readonly until: number;
  /** Undefined if the login is for the provider's API, which says who the person is. */
  readonly identity?: Identity;
  /** The identity, or the provider's record of the person as it was looked up last. */
  readonly user?: unknown;
}

/** How a login is kept. Only one tab at a time finishes, renews or ends it. */
export interface Keeper {
  /** The parameters of a start that say how the login comes back. */
  start(verifier: string, returnTo: string): Promise<Record<string, string>>;

  /** Finishes a login that has come back. */
  finish(code: string, verifier: string): Promise<Known>;

  /**
   * Finds the login without a call at the provider.
   *
   * @param isRefused whether the session of the page is of no use any more
   * @returns null if there is no login, and undefined if it has to be refreshed
   */
  restore(session: Known | null | undefined, isRefused?: boolean): Promise<Known | null | undefined>;

  /**
   * Gets a new token, or a new cookie.
   *
   * @returns null if the login is over
   * @throws {LoginError} if it should be tried again
   */
  refresh(session: Known | null | undefined): Promise<Known | null>;

  /** Keeps the record of the person for later loads. If undefined, nothing is kept. */
  note?(session: Known): Promise<void>;

  /** Forgets a login that is over. It revokes nothing. */
  forget(): Promise<null>;

  /** Logs out. @returns the address of the provider's own logout, if it has one */
  end(session: Known | null | undefined): Promise<string | undefined>;

  /** Sends a request as the person. */
  fetch(request: Request, session: Known): Promise<Response>;
}

/** When a token with this lifetime ends, in milliseconds since 1970; undefined if the provider does not tell. */
export const endOf = (seconds?: number) => seconds && Date.now() + seconds * 1000;
