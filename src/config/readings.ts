import { findEntry } from './fault.ts';
import type { FileSettings } from './file/entries.ts';
import { describe, withSources } from './given.ts';
import { readSecrets } from './key-file.ts';
import { readMachineCredentials } from './machine.ts';
import { createReading, type Reading, type Shared } from './reading.ts';
import type { Level } from './settings/setting.ts';
import { type CompleteValues, settingNames } from './settings/settings.ts';

/** The readings of a configuration: of the relay as a whole, its pages, and each registration, resource and front end. */
export type Readings = ReturnType<typeof createReadings>;

export type RelayReading = Readings['relay'];
export type RegistrationReading = Readings['registrations'][number];
export type FrontEndReading = Readings['frontEnds'][number];
export type ResourceReading = Readings['resources'][number];

/**
 * Reads all settings. What the file does not have of providers and front ends is a map of one, which flags and
 * variables give.
 */
export function createReadings(shared: Shared, file?: FileSettings<'relay'>) {
  const made: Pick<Reading<Level>, 'reportForm'>[] = [];
  function read<At extends Level>(map: FileSettings<At>): Reading<At> {
    const reading = createReading(shared, map);
    made.push(reading);
    return reading;
  }
  /** The maps of the file, else one that flags and variables give. Both, or neither, is a fault. */
  function readMaps<At extends 'providers' | 'front-ends'>(level: At): readonly FileSettings<At>[] {
    const maps = file?.inside[level];
    const outside = withSources(shared, level);
    const given = Object.keys(outside.values).map((name) => describe(outside, name));
    if (file && !maps && given.length === 0) shared.faults.add(`${file.path} has no ${level}`);
    for (const one of maps ? given : []) {
      shared.faults.add(`${one} is given, but ${file?.path} has ${level}: drop one of them`);
    }
    return maps ?? [outside];
  }
  const ofRelay = read(withSources(shared, 'relay', file));
  const relay = { ...ofRelay, baseUrl: baseUrlOf(ofRelay) };
  const registrations = mapped(readMaps('providers'), (map) => {
    const reading = read(map);
    const name = map.name ?? reading.values.pathName ?? '';
    return {
      ...reading,
      relay,
      /** The word in its paths. Empty: it has a fault. */
      name,
      registrations: [name],
      /** Who may log in. Undefined: everybody who may log in elsewhere. */
      allow: map.inside.allow?.map(read)[0],
    };
  });
  const names = registrations.map(({ name }) => name);
  const resources = (file?.inside.resources ?? []).map((map) => {
    const reading = read(map);
    const { provider, secretFile } = reading.values;
    const report = (message: string) => reading.fault('provider', message);
    const only = names.length === 1 ? names[0] : undefined;
    const registration = provider ? findEntry(provider, names, 'provider', report) : only;
    const allow = map.inside.allow?.map(read)[0];
    const above = registrations.find(({ name }) => name === registration)?.allow;
    return {
      ...reading,
      name: map.name ?? '',
      /** Who may use it. Undefined: everybody who may log in at its front ends. */
      allow,
      /** The `allow` that names the claim with the groups of its people. Undefined: none does. */
      claiming: [allow, above].find((one) => one?.values.groupsClaim !== undefined),
      /** The name of the registration whose people it knows. Empty: it has a fault. */
      registration: registration ?? '',
      registrations: [registration ?? ''],
      /** The secrets of the server that introspects. Undefined: there are none, or a fault was reported. */
      secrets: readSecrets(reading, secretFile, 'secretFile'),
    };
  });
  const frontEnds = mapped(readMaps('front-ends'), (map) => {
    const reading = read(map);
    const { allow, proxy = [], clients } = map.inside;
    const report = (message: string) => reading.fault('providers', message);
    const { kind, providers, resources: named = [] } = reading.values;
    const isMachine = kind === 'machine';
    const ofMachine = resources.filter(({ name }) => named.includes(name)).flatMap((one) => one.registrations);
    const asked = providers?.map((name) => findEntry(name, names, 'provider', report) ?? name) ?? names;
    const usable = isMachine && ofMachine.length > 0 ? [...new Set(ofMachine)] : asked;
    return {
      ...reading,
      relay,
      /** Its `client_id`. */
      name: map.name ?? 'app',
      /** Who may log in. Undefined: everybody who may log in elsewhere. */
      allow: allow?.map(read)[0],
      /** The settings of each entry of its `proxy`. */
      apis: proxy.map(read),
      clients: clients?.map(read)[0],
      /** The names of the registrations that it may use: by default, all; of a machine, those of its resources. Then their readings. */
      registrations: usable,
      usable: registrations.filter(({ name }) => usable.includes(name)),
      /** The keys of client identifiers that are made offline. Undefined: there are none, or a fault was reported. */
      clientKeys: readSecrets(reading, reading.values.clientKeyFile, 'clientKeyFile'),
      /** What a machine proves who it is by. Undefined: it is none, or a fault was reported. */
      credentials: readMachineCredentials(reading),
    };
  });
  const pages = file?.inside.pages?.map((map) => ({
    ...read(map),
    /** The operator's own texts. */
    texts: map.inside.texts?.map(read)[0],
  }))[0];
  // In the order of the help, whatever the order of the entries is.
  for (const name of settingNames) for (const { reportForm } of made) reportForm(name);
  return { relay, registrations, resources, frontEnds, pages };
}

/** The relay's public address, without a final slash. */
function baseUrlOf({ values }: Reading<'relay'>): string {
  const scheme = values.tlsCert === undefined ? 'http' : 'https';
  // A faulty port is left out: other faults are then found as well.
  const ownAddress = `${scheme}://localhost:${values.port ?? ''}`;
  return (values.baseUrl?.href ?? ownAddress).replace(/\/+$/, '');
}

/** The values of a reading. They are complete once no fault was reported. */
export function completeValues<At extends Level>({ values }: Reading<At>): CompleteValues<At> {
  return values as CompleteValues<At>;
}

/** Asserts that a value is there, after all faults were reported. @throws {Error} if a fault was not reported */
export function requireChecked<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing, but no fault was reported');
  return value;
}

/** A list with at least one element, with each element changed. */
export function mapped<Element, Result>(
  elements: readonly Element[],
  change: (element: Element, index: number) => Result,
): readonly [Result, ...Result[]] {
  const [first, ...others] = elements.map(change);
  return [requireChecked(first), ...others];
}
