import { findEntryOrReport, withItemNumber } from './fault.ts';
import { readSecrets } from './key-file.ts';
import { readMachineCredentials } from './machine-credentials.ts';
import { createReading, type Reading, type ReadingContext } from './map-reading.ts';
import type { Level } from './settings/setting.ts';
import { type CompleteValues, settingNames } from './settings/settings.ts';
import type { SettingsMap } from './settings-map.ts';
import { describeSetting, mergeOptions } from './settings-map.ts';

/** The settings of the whole configuration: of the relay, and of each entry. */
export type Readings = ReturnType<typeof createReadings>;

/** The settings of the relay, with its public URL, which is a valid URL even after a fault. */
export type RelayReading = Reading<'relay'> & { readonly baseUrl: string };
export type RegistrationReading = ReturnType<typeof readRegistration>;
export type FrontEndReading = ReturnType<typeof readFrontEnd>;
export type ResourceReading = ReturnType<typeof readResource>;

type Read = <At extends Level>(map: SettingsMap<At>) => Reading<At>;

/**
 * Reads all settings, and reports the values that schemas refuse. If the file has no `providers` or `front-ends`, the
 * flags and variables describe one.
 */
export function createReadings(context: ReadingContext, file?: SettingsMap<'relay'>) {
  const allReadings: Pick<Reading<Level>, 'reportRefusedValue'>[] = [];
  function read<At extends Level>(map: SettingsMap<At>): Reading<At> {
    const reading = createReading(context, map);
    allReadings.push(reading);
    return reading;
  }
  const relaySettings = read(mergeOptions(context, 'relay', file));
  const relay = { ...relaySettings, baseUrl: baseUrlOf(relaySettings) };
  const registrations = mapNonEmpty(findMaps('providers', context, file), (map) => readRegistration(map, read, relay));
  const resources = (file?.inside.resources ?? []).map((map) => readResource(map, read, registrations));
  // Browsers log in at a resource with `browser`, so that the relay may have no front end.
  const needsFrontEnd = resources.every(({ browser }) => browser === undefined);
  const frontEnds = findMaps('front-ends', context, file, needsFrontEnd).map((map) =>
    readFrontEnd(map, read, relay, registrations, resources),
  );
  const pages = file?.inside.pages?.map((map) => ({
    ...read(map),
    texts: map.inside.texts?.map(read)[0],
  }))[0];
  // Refused values are reported in the order of the help, whatever the order of the entries is.
  for (const name of settingNames) for (const { reportRefusedValue } of allReadings) reportRefusedValue(name);
  return { relay, registrations, resources, frontEnds, pages };
}

/**
 * Finds the maps of a level: the entries of the file, or the map that flags and variables give. Both together are a
 * fault. Neither is a fault as well, unless the level is not needed.
 */
function findMaps<At extends 'providers' | 'front-ends'>(
  level: At,
  context: ReadingContext,
  file: SettingsMap<'relay'> | undefined,
  isNeeded = true,
): readonly SettingsMap<At>[] {
  const inFile = file?.inside[level];
  const byOptions = mergeOptions(context, level);
  const options = Object.keys(byOptions.values).map((name) => describeSetting(byOptions, name));
  if (inFile !== undefined) {
    for (const option of options) {
      context.faults.add(`${option} is given, but ${file?.path} has ${level}: drop one of them`);
    }
    return inFile;
  }
  if (options.length === 0 && !isNeeded) return [];
  if (options.length === 0 && file) context.faults.add(`${file.path} has no ${level}`);
  return [byOptions];
}

/** Reads an entry of `providers`, or the provider that flags and variables describe. */
function readRegistration(map: SettingsMap<'providers'>, read: Read, relay: RelayReading) {
  const reading = read(map);
  const name = map.name ?? reading.values.pathName ?? '';
  return {
    ...reading,
    relay,
    /** The word in its paths. Empty after a fault. */
    name,
    registrations: [name],
    /** Who may log in here; undefined if its resources and front ends alone decide. */
    allow: map.inside.allow?.map(read)[0],
  };
}

/** Reads an entry of `resources`, and finds the registrations of its people. */
function readResource(map: SettingsMap<'resources'>, read: Read, registrations: readonly RegistrationReading[]) {
  const reading = read(map);
  const { provider: given, secretFile } = reading.values;
  const allNames = registrations.map(({ name }) => name);
  const named = given?.map((name, index) => {
    const report = (message: string) => reading.reportFault('provider', withItemNumber(index, given.length, message));
    if (given.indexOf(name) < index) report('names a provider that the list has already');
    return findEntryOrReport(name, allNames, 'provider', report) ?? name;
  });
  const byDefault = allNames.length === 1 ? allNames : [];
  const registrationNames: readonly string[] = [...new Set(named ?? byDefault)];
  const allow = map.inside.allow?.map(read)[0];
  const browser = map.inside.browser?.map(read)[0];
  const namesGroupsClaim = (rules: Reading<'allow'> | undefined) => rules?.values.groupsClaim !== undefined;
  return {
    ...reading,
    name: map.name ?? '',
    /** Who may use it; undefined if everybody who may log in at its front ends may. */
    allow,
    /** How long browsers stay logged in; undefined if it opens to no browser. */
    browser,
    /**
     * The `allow` whose `groups-claim` holds for the people of a registration: the resource's own, or else the
     * registration's. Undefined if neither has a `groups-claim`.
     */
    allowWithGroupsClaim(registration: string): Reading<'allow'> | undefined {
      const allowOfRegistration = registrations.find(({ name }) => name === registration)?.allow;
      return [allow, allowOfRegistration].find(namesGroupsClaim);
    },
    /**
     * The registrations at which its people log in. The list is empty if the entry names no provider although there are
     * several. An unknown name stays in the list, so that no other fault follows from it.
     */
    registrations: registrationNames,
    /** Whether the ids that it learns begin with the name of the registration. */
    idsNameProvider: reading.isList('provider') || registrationNames.length > 1,
    /** The secrets of the server that introspects tokens; undefined if no server does, and after a fault. */
    secrets: readSecrets(reading, secretFile, 'secretFile'),
  };
}

/** Reads an entry of `front-ends`, or the front end that flags and variables describe, and finds its registrations. */
function readFrontEnd(
  map: SettingsMap<'front-ends'>,
  read: Read,
  relay: RelayReading,
  registrations: readonly RegistrationReading[],
  resources: readonly ResourceReading[],
) {
  const reading = read(map);
  const { allow, proxy = [], clients } = map.inside;
  const names = registrations.map(({ name }) => name);
  const report = (message: string) => reading.reportFault('providers', message);
  const { kind, providers, resources: ownResources = [] } = reading.values;
  const named = providers?.map((name) => findEntryOrReport(name, names, 'provider', report) ?? name) ?? names;
  const atResources = resources
    .filter(({ name }) => ownResources.includes(name))
    .flatMap((resource) => resource.registrations);
  const usable: readonly string[] = kind === 'machine' && atResources.length > 0 ? [...new Set(atResources)] : named;
  return {
    ...reading,
    relay,
    /** Its `client_id`. */
    name: map.name ?? 'app',
    /** Who may log in here; undefined if its registrations and resources alone decide. */
    allow: allow?.map(read)[0],
    apis: proxy.map(read),
    clients: clients?.map(read)[0],
    /** The names of the registrations that it may use: by default, all; for a machine, those of its resources. */
    registrations: usable,
    usableRegistrations: registrations.filter(({ name }) => usable.includes(name)),
    /** The keys of client identifiers that are made offline; undefined if there are none, and after a fault. */
    clientKeys: readSecrets(reading, reading.values.clientKeyFile, 'clientKeyFile'),
    /** The secret or key of a machine; undefined for other front ends, and after a fault. */
    credentials: readMachineCredentials(reading),
  };
}

/** The public URL of the relay, without a slash at its end: the configured one, or its own port on this machine. */
function baseUrlOf({ values }: Reading<'relay'>): string {
  const scheme = values.tlsCert === undefined ? 'http' : 'https';
  // A faulty port is left out, so that other faults are found as well.
  const ownAddress = `${scheme}://localhost:${values.port ?? ''}`;
  return (values.baseUrl?.href ?? ownAddress).replace(/\/+$/, '');
}

/** Asserts that required settings and those with a default have a value. Call it only if there is no fault. */
export function completeValues<At extends Level>({ values }: Reading<At>): CompleteValues<At> {
  return values as CompleteValues<At>;
}

/** Requires a value that is missing only after a fault. @throws {Error} if no fault was reported */
export function requireChecked<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing, but no fault was reported');
  return value;
}

/** Maps a list that has at least one element. */
export function mapNonEmpty<Element, Result>(
  elements: readonly Element[],
  change: (element: Element, index: number) => Result,
): readonly [Result, ...Result[]] {
  const [first, ...others] = elements.map(change);
  return [requireChecked(first), ...others];
}
