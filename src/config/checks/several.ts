import { matches } from '../../origins/origin-pattern.ts';
import { sessionPaths } from '../../paths.ts';
import type { ConfigFile } from '../file/config-file.ts';
import type { ReadConfigFile } from '../file/read.ts';
import type { FrontEndReading, Reading, Shared } from '../reading.ts';
import { describeOption, optionNames, options } from '../settings/settings.ts';
import { givenBySources } from '../sources.ts';
import type { FrontEndAccess } from './front-end.ts';

/** A registration that is being read. */
export interface RegistrationEntry {
  readonly name: string;
  readonly reading: Reading;
}

/** A front end that is being read. */
export interface FrontEndEntry {
  readonly one: FrontEndReading;
  readonly access: FrontEndAccess;
}

/**
 * Describes the first front end with one of these deliveries. Undefined: there is none.
 *
 * @param registration by default, any
 */
export function describeDelivery(
  frontEnds: readonly FrontEndEntry[],
  deliveries: readonly (string | undefined)[],
  registration?: string,
): string | undefined {
  const found = frontEnds.find(
    ({ one: { values }, access: { registrations } }) =>
      deliveries.includes(values.tokenDelivery) &&
      (registration === undefined || registrations.includes(registration)),
  );
  return found && `${found.one.describe('tokenDelivery')} ${found.one.values.tokenDelivery}`;
}

/** Checks what concerns several registrations or front ends. */
export function checkSeveral(
  file: ReadConfigFile | undefined,
  registrations: readonly RegistrationEntry[],
  frontEnds: readonly FrontEndEntry[],
): void {
  reportSessionEndpoints(registrations, describeDelivery(frontEnds, ['session']));
  if (file === undefined) return;
  reportUnused(registrations, frontEnds);
  warnOfSharedScopes(registrations, frontEnds);
  if (!file.isPrivate) warnOfSecrets(registrations);
  warnOfTokensBesideSessions(frontEnds);
}

/** Reports registrations whose paths are endpoints of sessions. */
function reportSessionEndpoints(
  registrations: readonly RegistrationEntry[],
  sessionDelivery: string | undefined,
): void {
  for (const { name, reading } of registrations) {
    if (sessionDelivery === undefined || !sessionPaths.has(`/auth/${name}`)) continue;
    const message = `has the name of an endpoint of ${sessionDelivery}: choose another name`;
    if (reading.name === undefined) reading.fault('pathName', message);
    else reading.faultOfEntry(message);
  }
}

/** Reports providers that no front end may use. */
function reportUnused(
  registrations: readonly RegistrationEntry[],
  frontEnds: readonly FrontEndEntry[],
): void {
  const used = new Set(frontEnds.flatMap(({ access }) => access.registrations));
  for (const { reading } of registrations) {
    if (reading.name === undefined || used.has(reading.name)) continue;
    reading.faultOfEntry('is used by no front end');
  }
}

/** Warns of secrets in a file that other users than its owner can read. */
function warnOfSecrets(registrations: readonly RegistrationEntry[]): void {
  for (const { reading } of registrations) {
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
function warnOfSharedScopes(
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

/**
 * Warns of pages with sessions that can get tokens all the same: at their origin, another front end can log in, and a
 * script in the page can start that login.
 */
function warnOfTokensBesideSessions(frontEnds: readonly FrontEndEntry[]): void {
  const others = frontEnds.filter(({ one }) => one.values.tokenDelivery !== 'session');
  for (const { one, access } of frontEnds) {
    const { tokenDelivery, origin } = one.values;
    if (tokenDelivery !== 'session' || !origin) continue;
    const other = others.find(
      ({ one: reading, access: { registrations } }) =>
        reading.values.origin !== undefined &&
        matches(reading.values.origin, origin) &&
        registrations.some((name) => access.registrations.includes(name)),
    );
    if (other === undefined) continue;
    one.warn(
      'origin',
      `is also in ${other.one.describe('origin')}: a script in the page can log in there, and get the tokens that the session keeps from it. Use another origin`,
    );
  }
}

/** Reports flags and variables of what the file describes, and what neither it nor they describe. */
export function reportOutside(shared: Shared, { path, ...maps }: ConfigFile): void {
  for (const [level, entries] of [
    ['providers', maps.providers],
    ['front-ends', maps.frontEnds],
  ] as const) {
    const outside = optionNames.filter(
      (name) => options[name].level === level && givenBySources(name, shared) !== undefined,
    );
    if (entries === undefined && outside.length === 0) shared.faults.add(`${path} has no ${level}`);
    for (const name of entries === undefined ? [] : outside) {
      shared.faults.add(
        `${describeOption(name)} is given, but ${path} has ${level}: drop one of them`,
      );
    }
  }
}
