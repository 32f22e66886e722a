import { findEntryOrReport } from './fault.ts';
import { readSecrets } from './key-file.ts';
import { readMachineCredentials } from './machine-credentials.ts';
import { createReading, type Reading, type ReadingContext } from './reading.ts';
import type { Level } from './settings/setting.ts';
import { type CompleteValues, settingNames } from './settings/settings.ts';
import type { SettingsMap } from './settings-map.ts';
import { describeSetting, mergeOptions } from './settings-map.ts';

export type Readings = ReturnType<typeof createReadings>;

export type RelayReading = Reading<'relay'> & { readonly baseUrl: string };
export type RegistrationReading = ReturnType<typeof readRegistration>;
export type FrontEndReading = ReturnType<typeof readFrontEnd>;
export type ResourceReading = ReturnType<typeof readResource>;

type Read = <At extends Level>(map: SettingsMap<At>) => Reading<At>;

/** Reads all settings. If the file has no `providers` or `front-ends`, the flags and variables describe one. */
export function createReadings(shared: ReadingContext, file?: SettingsMap<'relay'>) {
  const made: Pick<Reading<Level>, 'reportRefusedValue'>[] = [];
  function read<At extends Level>(map: SettingsMap<At>): Reading<At> {
    const reading = createReading(shared, map);
    made.push(reading);
    return reading;
  }
  const ofRelay = read(mergeOptions(shared, 'relay', file));
  const relay = { ...ofRelay, baseUrl: baseUrlOf(ofRelay) };
  const registrations = mapNonEmpty(readMaps('providers', shared, file), (map) => readRegistration(map, read, relay));
  const resources = (file?.inside.resources ?? []).map((map) => readResource(map, read, registrations));
  // A resource that opens to browsers needs none.
  const areNeeded = resources.every(({ browser }) => browser === undefined);
  const frontEnds = readMaps('front-ends', shared, file, areNeeded).map((map) =>
    readFrontEnd(map, read, relay, registrations, resources),
  );
  const pages = file?.inside.pages?.map((map) => ({
    ...read(map),
    texts: map.inside.texts?.map(read)[0],
  }))[0];
  // In the order of the help, whatever the order of the entries.
  for (const name of settingNames) for (const { reportRefusedValue } of made) reportRefusedValue(name);
  return { relay, registrations, resources, frontEnds, pages };
}

/** The maps of the file, or one from flags and variables. Both is a fault; neither is one, too, if some are needed. */
function readMaps<At extends 'providers' | 'front-ends'>(
  level: At,
  shared: ReadingContext,
  file: SettingsMap<'relay'> | undefined,
  isNeeded = true,
): readonly SettingsMap<At>[] {
  const maps = file?.inside[level];
  const outside = mergeOptions(shared, level);
  const given = Object.keys(outside.values).map((name) => describeSetting(outside, name));
  if (!isNeeded && !maps && given.length === 0) return [];
  if (file && !maps && given.length === 0) shared.faults.add(`${file.path} has no ${level}`);
  for (const one of maps ? given : []) {
    shared.faults.add(`${one} is given, but ${file?.path} has ${level}: drop one of them`);
  }
  return maps ?? [outside];
}

function readRegistration(map: SettingsMap<'providers'>, read: Read, relay: RelayReading) {
  const reading = read(map);
  const name = map.name ?? reading.values.pathName ?? '';
  return {
    ...reading,
    relay,
    /** The word in its paths. Empty after a fault. */
    name,
    registrations: [name],
    /** Undefined: everybody may log in who may log in elsewhere. */
    allow: map.inside.allow?.map(read)[0],
  };
}

function readResource(map: SettingsMap<'resources'>, read: Read, registrations: readonly RegistrationReading[]) {
  const reading = read(map);
  const { provider, secretFile } = reading.values;
  const names = registrations.map(({ name }) => name);
  const report = (message: string) => reading.reportFault('provider', message);
  const only = names.length === 1 ? names[0] : undefined;
  const registration = provider ? findEntryOrReport(provider, names, 'provider', report) : only;
  const allow = map.inside.allow?.map(read)[0];
  const browser = map.inside.browser?.map(read)[0];
  const above = registrations.find(({ name }) => name === registration)?.allow;
  return {
    ...reading,
    name: map.name ?? '',
    /** Undefined: everybody who may log in at its front ends. */
    allow,
    /** How long browsers stay logged in. Undefined if it opens to no browser. */
    browser,
    /** The `allow` that names the claim with the groups of its people. */
    allowWithGroupsClaim: [allow, above].find((one) => one?.values.groupsClaim !== undefined),
    /** The registration of its people. Empty after a fault. */
    registration: registration ?? '',
    registrations: [registration ?? ''],
    /** Undefined if no server introspects, and after a fault. */
    secrets: readSecrets(reading, secretFile, 'secretFile'),
  };
}

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
  const { kind, providers, resources: named = [] } = reading.values;
  const isMachine = kind === 'machine';
  const ofMachine = resources.filter(({ name }) => named.includes(name)).flatMap((one) => one.registrations);
  const asked = providers?.map((name) => findEntryOrReport(name, names, 'provider', report) ?? name) ?? names;
  const usable = isMachine && ofMachine.length > 0 ? [...new Set(ofMachine)] : asked;
  return {
    ...reading,
    relay,
    /** Its `client_id`. */
    name: map.name ?? 'app',
    /** Undefined: everybody may log in who may log in elsewhere. */
    allow: allow?.map(read)[0],
    apis: proxy.map(read),
    clients: clients?.map(read)[0],
    /**
     * The registrations that it may use, with their readings: by default, all; for a machine, those of its resources.
     */
    registrations: usable,
    usableRegistrations: registrations.filter(({ name }) => usable.includes(name)),
    /** The keys of client identifiers that are made offline. Undefined if there are none, and after a fault. */
    clientKeys: readSecrets(reading, reading.values.clientKeyFile, 'clientKeyFile'),
    /** Undefined unless it is a machine, and after a fault. */
    credentials: readMachineCredentials(reading),
  };
}

function baseUrlOf({ values }: Reading<'relay'>): string {
  const scheme = values.tlsCert === undefined ? 'http' : 'https';
  // A faulty port is left out, so that other faults are found as well.
  const ownAddress = `${scheme}://localhost:${values.port ?? ''}`;
  return (values.baseUrl?.href ?? ownAddress).replace(/\/+$/, '');
}

/** The values of a reading, which are complete if there is no fault. */
export function completeValues<At extends Level>({ values }: Reading<At>): CompleteValues<At> {
  return values as CompleteValues<At>;
}

/** Requires a value that is there if there is no fault. @throws {Error} if a fault was not reported */
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
