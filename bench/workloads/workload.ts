import type { Address } from '../load/http-connection.ts';

/** Whom the load is for. */
export interface Target {
  readonly address: Address;
  /** Where a login starts. */
  readonly loginPath: string;
  /** Where users look themselves up. */
  readonly userPath: string;
  /** Whether a login has to be protected by state, cookie and PKCE. */
  readonly protection: boolean;
  readonly provider: Address;
}

/** One of the users that make the load, with connections of its own. */
export interface User {
  /** Does the work once. @throws {WrongAnswer} where an answer is not what it has to be */
  act(): Promise<void>;
  leave(): void;
}

/** A kind of load. */
export interface Workload {
  readonly name: string;
  /** What is done once, for the report. */
  readonly unit: string;
  user(target: Target): Promise<User>;
}
