import type { Page } from 'playwright-core';
import type { ClientRegistration } from '../../harness/provider/strict-provider.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';

/** How a server is started. */
export interface Setup {
  readonly registration: Pick<ClientRegistration, 'clientId' | 'clientSecret' | 'redirectUri'>;
  /** How long an authorization code is valid, in seconds. */
  readonly codeSeconds: number;
}

/** The person who logs in at every server. */
export const person = { login: 'ada', password: 'analytical-engine', name: 'Ada Lovelace' };

/** Logs the person in at a page whose fields have these usual names. */
export async function logIn(page: Page): Promise<void> {
  await page.locator('[name=username]').fill(person.login);
  await page.locator('[name=password]').fill(person.password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** A running server with one client and one person. */
export interface RunningServer {
  readonly issuer: string;
  /** The settings of the relay in addition to issuer, client identifier and client secret. */
  readonly flags: Flags;
  /** Logs in, and gives consent if asked. */
  allow(page: Page): Promise<void>;
  /** Logs in, and refuses consent. */
  refuse(page: Page): Promise<void>;
  close(): Promise<void>;
}

/** A third-party OAuth or OpenID Connect server, with its installation and configuration. */
export interface Rig {
  readonly name: string;
  /** The peculiarity of its configuration. */
  readonly variant: string;
  /** Debian packages that have to be installed. */
  readonly packages: readonly string[];
  /** The fields of the person's user record. */
  readonly user: Readonly<Record<string, unknown>>;
  start(setup: Setup): Promise<RunningServer>;
}
