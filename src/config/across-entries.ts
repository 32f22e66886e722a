import { describeEntry } from './file/describe.ts';
import type { ReadConfigFile } from './file/read.ts';
import type { FrontEndAccess } from './front-end-access.ts';
import type { Reading } from './reading.ts';
import type { EntryReading } from './readings.ts';

/** A registration that is being read. */
export interface RegistrationEntry {
  readonly name: string;
  readonly reading: Reading;
}

/** A front end that is being read. */
export interface FrontEndEntry {
  readonly one: EntryReading;
  readonly access: FrontEndAccess;
}

/** Deliveries that must not be bypassed by a callback without a state. */
const guarded: ReadonlySet<string | undefined> = new Set(['code', 'cms']);

/** Describes the first front end of a registration whose delivery is guarded. Undefined: there is none. */
export function guardedDeliveryAt(
  registration: string,
  frontEnds: readonly FrontEndEntry[],
): string | undefined {
  const found = frontEnds.find(
    ({ one, access }) =>
      guarded.has(one.reading.values.tokenDelivery) && access.registrations.includes(registration),
  );
  if (found === undefined) return undefined;
  const { describe, values } = found.one.reading;
  return `${describe('tokenDelivery')} ${values.tokenDelivery}`;
}

/** Reports providers that no front end may use. */
export function reportUnused(
  file: ReadConfigFile,
  frontEnds: readonly FrontEndEntry[],
  addFault: (fault: string) => void,
): void {
  const used = new Set(frontEnds.flatMap(({ access }) => access.registrations));
  for (const entry of file.providers ?? []) {
    if (!used.has(entry.name)) addFault(`${describeEntry(file, entry)} is used by no front end`);
  }
}

/** Warns of secrets in a file that other users than its owner can read. */
export function warnOfSecrets(
  { isPrivate }: ReadConfigFile,
  providers: readonly EntryReading[],
): void {
  if (isPrivate) return;
  for (const { reading } of providers) {
    for (const name of ['clientSecret', 'tokenParams'] as const) {
      if (reading.sourceOf(name) !== 'file') continue;
      reading.warn(
        name,
        'is in a file that other users can read: chmod 600 it, or keep the secret in a file of its own',
      );
    }
  }
}

/**
 * Warns of front ends with different scopes that log in with one client identifier of GitHub. A login that asks for
 * no scope is given all that its user ever granted the application.
 *
 * @see https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
 */
export function warnOfSharedScopes(
  registrations: readonly RegistrationEntry[],
  frontEnds: readonly FrontEndEntry[],
): void {
  const atGitHub = registrations.filter(
    ({ reading: { values } }) =>
      values.provider === 'github' && !values.issuer && !values.authorizeUrl,
  );
  for (const sharing of Map.groupBy(atGitHub, ({ reading }) => reading.values.clientId).values()) {
    const scopes = sharing.flatMap(({ name, reading }) =>
      frontEnds
        .filter(({ access }) => access.registrations.includes(name))
        .map(({ access }) => access.scope ?? reading.values.scope ?? ''),
    );
    if (new Set(scopes).size < 2) continue;
    sharing[0]?.reading.warn(
      'clientId',
      'is used with different scopes: a login that asks for no scope gets all that its user ever granted this application. Register one application at GitHub for each scope',
    );
  }
}
