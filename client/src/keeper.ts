import type { Session } from '../client.d.ts';

/** How a login is kept. Only one tab at a time finishes, renews or ends it. */
export interface Keeper {
  /** The parameters of a start that say how the login comes back. */
  start(verifier: string, returnTo: string): Promise<Record<string, string>>;

  /** Finishes a login that has come back. */
  finish(code: string, verifier: string): Promise<Session | null>;

  /**
   * Renews the login, or restores it if the page knows of none.
   *
   * @returns null if there is none, or if it is over
   * @throws {LoginError} if it should be tried again
   */
  renew(session: Session | null): Promise<Session | null>;

  /** Forgets a login that is over. It revokes nothing. */
  forget(): Promise<null>;

  /** Logs out. @returns the address of the provider's own logout, if it has one */
  end(session: Session | null): Promise<string | undefined>;

  /** The header that makes a request one of the person. */
  header(session: Session): [name: string, value: string];

  /** What else such a request needs. */
  readonly init: RequestInit;
}
