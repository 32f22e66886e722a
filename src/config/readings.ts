import { didYouMean, suggestion } from './fault.ts';
import type { FileSettings } from './file/entries.ts';
import { readSecrets } from './key-file.ts';
import { createReading, type Naming, type Reading, type Shared } from './reading.ts';
import type { Level } from './settings/setting.ts';
import { type CompleteValues, namesAt, type SettingName, settings } from './settings/settings.ts';

/** The readings of a configuration: of the relay as a whole, and of each registration and front end. */
export type Readings = ReturnType<typeof createReadings>;

/** The settings of a registration. */
export type RegistrationReading = Readings['registrations'][number];

/** The settings of a front end. */
export type FrontEndReading = Readings['frontEnds'][number];

/** Reads all settings. Without a file, flags and variables describe one registration and one front end. */
export function createReadings(shared: Shared) {
  const { file } = shared;
  const relay = createReading(shared);
  const ofRelay = valuesAt('relay', relay);
  const read = (map: FileSettings) => createReading(shared, namesAt(map.level), map, ofRelay);

  /** @param entry undefined: flags and variables describe it */
  function readEntry(entry: FileSettings | undefined, otherName: string) {
    const { allow = [], proxy = [], clients = [] } = entry?.inside ?? {};
    return {
      ...(entry ? read(entry) : relay),
      /** The word in its paths, or its `client_id`. Empty: it has a fault. */
      name: entry?.name ?? otherName,
      /** Who may log in. Undefined: everybody who may log in elsewhere. */
      allow: allow.map(read)[0],
      /** The settings of each entry of its `proxy`. */
      apis: proxy.map(read),
      /** The settings of its `clients`. */
      clients: clients.map(read)[0],
    };
  }

  const { providers = [undefined], 'front-ends': frontEnds = [undefined] } = file?.inside ?? {};
  const registrations = mapped(providers, (entry) => readEntry(entry, relay.values.pathName ?? ''));
  const names = registrations.map(({ name }) => name);
  return {
    relay,
    registrations,
    frontEnds: mapped(frontEnds, (entry) => {
      const reading = readEntry(entry, 'app');
      const { clientKeyFile } = reading.values;
      return {
        ...reading,
        /** The names of the registrations that it may use: by default, all. */
        registrations: usable(reading, names),
        /** The keys of client identifiers that are made offline. Undefined: there are none, or a fault was reported. */
        clientKeys: readSecrets(reading, clientKeyFile, 'clientKeyFile'),
      };
    }),
  };
}

/** Reads which of the registrations a front end may use. */
function usable({ values, fault }: Reading, registrations: readonly string[]): readonly string[] {
  const named = values.providers?.map((name) => {
    if (registrations.includes(name)) return name;
    const close = suggestion(name, registrations);
    fault('providers', `names a provider that is not configured${didYouMean(close)}`);
    // Otherwise, that one may be reported as unused, too.
    return close ?? name;
  });
  return named ?? registrations;
}

/** Names the settings of one login. A setting that nothing sets has no place. */
export function namingOf(readings: Readings, registration: string, frontEnd: string): Naming {
  const { relay, registrations, frontEnds } = readings;
  const ofRegistration = registrations.find(({ name }) => name === registration) ?? relay;
  const ofFrontEnd = frontEnds.find(({ name }) => name === frontEnd) ?? relay;
  const ownerOf = (name: SettingName) =>
    settings[name].level === 'front-ends' ? ofFrontEnd : ofRegistration;
  return {
    sourceOf: (name) => ownerOf(name).sourceOf(name),
    describe: (name) => ownerOf(name).describeGiven(name),
  };
}

/** The values of a level. They are complete once no fault was reported. */
export function valuesAt<At extends Level>(level: At, { values }: Reading): CompleteValues<At> {
  return Object.fromEntries(
    namesAt(level).map((name) => [name, values[name]]),
  ) as CompleteValues<At>;
}

/**
 * Asserts that a value is there, after all faults were reported.
 *
 * @throws {Error} if a fault was not reported
 */
export function checked<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing, but no fault was reported');
  return value;
}

/** A list with at least one element, with each element changed. */
export function mapped<Element, Result>(
  elements: readonly Element[],
  change: (element: Element, index: number) => Result,
): readonly [Result, ...Result[]] {
  const [first, ...others] = elements.map(change);
  return [checked(first), ...others];
}
