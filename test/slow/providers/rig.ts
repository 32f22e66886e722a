import type { Page } from 'playwright-core';
import type { Flags } from '../../harness/relay/relay-process.ts';
import type { Column } from './matrix.ts';

/** The relay as it is registered at a server. */
interface Registration {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

/** How a server is started. */
export interface Setup {
  readonly registration: Registration;
  /** How long an authorization code is valid, in seconds. */
  readonly codeSeconds: number;
}

/** Who logs in at every server. */
export const person = { login: 'ada', password: 'analytical-engine', name: 'Ada Lovelace' };

/** A server that runs, with one client and one person. */
export interface RunningServer {
  readonly issuer: string;
  /** What the relay needs beside issuer, client identifier and client secret. */
  readonly flags: Flags;
  /** A PEM file with the authority of its certificate, if that is a private one. */
  readonly authority?: string;
  /** Logs in, and gives consent if asked. */
  allow(page: Page): Promise<void>;
  /** Logs in, and refuses consent; missing if its pages offer no such choice. */
  refuse?(page: Page): Promise<void>;
  close(): Promise<void>;
}

/** An OAuth or OpenID Connect server that is not ours, and how it is installed and configured. */
export interface Rig {
  readonly name: string;
  /** What is particular about its configuration. */
  readonly variant: string;
  /** Debian packages that have to be installed. */
  readonly packages: readonly string[];
  /** What the user record says of the person. */
  readonly user: Readonly<Record<string, unknown>>;
  /** A value of `--token-request` that it does not take from a client with an awkward secret. */
  readonly wrongTokenRequest: 'query' | 'body' | 'basic';
  /** Whether it refuses codes that are too old; some accept any. */
  readonly refusesExpiredCodes: boolean;
  /** Mistakes that it shows to nobody before a login, so that `check` cannot see them. */
  readonly hides: readonly Column[];
  start(setup: Setup): Promise<RunningServer>;
}
