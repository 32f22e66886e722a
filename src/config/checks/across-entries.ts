import { isMachineId } from '../../access/identity.ts';
import { matches } from '../../origins/origin-pattern.ts';
import { pageOriginsOf } from '../../origins/redirect-uri.ts';
import { endpointNames } from '../../paths.ts';
import { findPreset } from '../assemble-provider.ts';
import type { ReadConfigFile } from '../file/read.ts';
import type { FrontEndReading, Readings, RegistrationReading } from '../readings.ts';
import { describeDelivery } from './describe-delivery.ts';

/** Checks the names, scopes, secrets and origins of entries that depend on other entries or on the file. */
export function checkEntries(readings: Readings, file: ReadConfigFile): void {
  const { registrations, resources, frontEnds } = readings;
  reportTakenNames(readings);
  const openToBrowsers = resources.filter(({ browser }) => browser !== undefined);
  const used = new Set([...frontEnds, ...openToBrowsers].flatMap((owner) => owner.registrations));
  for (const { name, map, reportEntryFault } of registrations) {
    const isFromFile = map.path !== undefined;
    if (isFromFile && !used.has(name)) reportEntryFault('is used by no front end');
  }
  for (const registration of registrations) reportSeparatedScopes(registration, frontEnds);
  if (file === undefined) return;
  if (!file.isPrivate) for (const registration of registrations) warnOfReadableSecrets(registration);
  warnOfSharedScopes(readings);
  warnOfTokensBesideSessions(frontEnds);
}

/**
 * Reports scopes that contain the separator of requests instead of spaces, because no front end could request a part of
 * them.
 */
function reportSeparatedScopes(registration: RegistrationReading, frontEnds: readonly FrontEndReading[]): void {
  const { name, values, describe } = registration;
  const { scopeSeparator: separator } = values;
  if (separator === undefined || separator === ' ') return;
  const message = `must have spaces between its words: ${describe('scopeSeparator')} takes their place in requests`;
  if (values.scope?.includes(separator)) registration.reportFault('scope', message);
  for (const frontEnd of frontEnds) {
    const logsInHere = frontEnd.registrations.includes(name);
    if (logsInHere && frontEnd.values.scope?.includes(separator)) frontEnd.reportFault('scope', message);
  }
}

/** Warns about secrets in a file that other users can read. */
function warnOfReadableSecrets({ values, sourceOf, warn }: RegistrationReading): void {
  const message = 'is in a file that other users can read: chmod 600 it';
  for (const secret of ['clientSecret', 'tokenParams'] as const) {
    if (sourceOf(secret) === 'file') warn(secret, `${message}, or keep the secret in a file of its own`);
  }
  // Only a file can set headers, so their source needs no check. A shorter header is a version or a name, not a secret.
  const headerValues = Object.values(values.requestHeaders ?? {});
  if (headerValues.some((value) => value.length >= 16)) warn('requestHeaders', message);
}

/** Reports names of entries that are also endpoints, if this configuration has these endpoints. */
function reportTakenNames({ registrations, resources, frontEnds }: Readings): void {
  const report = (
    entries: readonly Pick<FrontEndReading, 'name' | 'reportEntryFault'>[],
    taken: readonly string[],
    whose = '',
  ) => {
    for (const { name, reportEntryFault } of entries) {
      if (taken.includes(name)) reportEntryFault(`has the name of an endpoint${whose}: choose another name`);
    }
  };
  // Registrations are below /auth/, and front ends are below their registration. Resources have endpoints at both
  // places.
  const delivery = describeDelivery(frontEnds, ['session']);
  if (delivery) report(registrations, endpointNames.withSessions, ` of ${delivery}`);
  if (resources.length > 0) {
    report([...registrations, ...frontEnds], endpointNames.withResources);
    for (const { name, reportEntryFault } of registrations) {
      // At a resource with several providers, the id of a person begins with the name of the provider.
      if (isMachineId(`${name}:`)) reportEntryFault('must not be called machine: the ids of machines begin so');
    }
  }
  if (resources.some(({ browser }) => browser !== undefined)) report(registrations, endpointNames.withBrowsers);
  if (frontEnds.some(({ clients }) => clients)) report(frontEnds, endpointNames.withOpenClients);
}

/**
 * Warns about front ends with different scopes at one client identifier of GitHub. A login without a scope gets
 * everything that its user ever granted to the application.
 *
 * @see https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
 */
function warnOfSharedScopes({ registrations, frontEnds }: Readings): void {
  const atGitHub = registrations.filter(({ values }) => findPreset(values)?.name === 'github' && !values.authorizeUrl);
  for (const sharing of Map.groupBy(atGitHub, ({ values }) => values.clientId).values()) {
    const scopes = sharing.flatMap(({ name, values }) => {
      const ownFrontEnds = frontEnds.filter((frontEnd) => frontEnd.registrations.includes(name));
      return ownFrontEnds.map((frontEnd) => frontEnd.values.scope ?? values.scope ?? '');
    });
    if (new Set(scopes).size < 2) continue;
    sharing[0]?.warn(
      'clientId',
      'is used with different scopes: a login that requests no scope gets everything that its user ever granted this application. Register one application at GitHub for each scope',
    );
  }
}

/**
 * Warns about pages with sessions that could get tokens after all: a script in the page can start a login of another
 * front end at the same origin.
 */
function warnOfTokensBesideSessions(frontEnds: readonly FrontEndReading[]): void {
  const hasSessions = ({ values }: FrontEndReading) => values.tokenDelivery === 'session';
  const withTokens = frontEnds.filter((frontEnd) => !hasSessions(frontEnd));
  for (const { values, registrations, warn } of frontEnds.filter(hasSessions)) {
    // With sessions, a second origin is a fault of its own.
    const [origin] = values.origin ?? [];
    if (!origin) continue;
    const other = withTokens.find(
      (frontEnd) =>
        originsOfReading(frontEnd).some((pattern) => matches(pattern, origin)) &&
        frontEnd.registrations.some((name) => registrations.includes(name)),
    );
    if (other === undefined) continue;
    warn(
      'origin',
      `is also in ${other.describe(settingWithOrigins(other))}: a script in the page can log in there, and get the tokens that the session keeps from it. Use another origin`,
    );
  }
}

/** The setting that gives a front end its origins. */
function settingWithOrigins({ values }: FrontEndReading): 'origin' | 'origins' | 'redirectUri' {
  if (values.kind !== 'native') return 'origin';
  return values.origins ? 'origins' : 'redirectUri';
}

/** The origins at which a front end's logins end, or from which its pages request tokens. */
function originsOfReading({ values: { origin = [], origins = [], redirectUri = [] } }: FrontEndReading) {
  return pageOriginsOf({ origins: [...origin, ...origins], redirectUris: redirectUri });
}
