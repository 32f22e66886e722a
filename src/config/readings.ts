import { didYouMean, suggestion } from './fault.ts';
import type { ConfigFile, FileEntry, FileSettings } from './file/config-file.ts';
import { type KeySecrets, readSecrets } from './key-file.ts';
import { createReading, type Naming, type Reading, type Shared } from './reading.ts';
import type { Level } from './settings/setting.ts';
import {
  type CompleteValues,
  namesAt,
  type SettingName,
  settings,
  type Values,
} from './settings/settings.ts';

/** The settings of a registration. */
export interface RegistrationReading extends Reading {
  /** The word in its paths. Empty: it has a fault. */
  readonly name: string;
  /** Who may log in. Undefined: everybody. */
  readonly allow: Reading | undefined;
}

/** The settings of a front end. */
export interface FrontEndReading extends Reading {
  readonly name: string;
  /** Who may log in here. Undefined: whoever may log in at the registration. */
  readonly allow: Reading | undefined;
  /** The names of the registrations that it may use: by default, all. */
  readonly registrations: readonly string[];
  /** The settings of each entry of its `proxy`. */
  readonly apis: readonly Reading[];
  /** The keys of client identifiers that are made offline. Undefined: there are none, or a fault was reported. */
  readonly clientKeys: KeySecrets | undefined;
  /** The settings of its `clients`. */
  readonly clients: Reading | undefined;
}

/** The readings of a configuration: of the relay as a whole, and of each registration and front end. */
export interface Readings {
  readonly relay: Reading;
  readonly registrations: NonEmpty<RegistrationReading>;
  readonly frontEnds: NonEmpty<FrontEndReading>;
}

/** What only an entry of a file can give a front end. */
const withoutEntry = {
  name: 'app',
  allow: undefined,
  apis: [],
  clients: undefined,
  clientKeys: undefined,
};

/** @param file undefined: flags and variables describe one registration and one front end */
export function createReadings(shared: Shared, file: ConfigFile | undefined): Readings {
  const relay = createReading(shared, file);
  const ofRelay: Values = valuesAt('relay', relay);
  const read = (entry: FileSettings) =>
    createReading(shared, file, namesAt(entry.level), entry, ofRelay);
  const namedBy = ({ name, allow }: FileEntry) => ({ name, allow: allow && read(allow) });
  const { providers, frontEnds } = file ?? {};
  const registrations = providers
    ? mapped(providers, (entry) => ({ ...read(entry), ...namedBy(entry) }))
    : ([{ ...relay, name: relay.values.pathName ?? '', allow: undefined }] as const);
  const names = registrations.map(({ name }) => name);
  return {
    relay,
    registrations,
    frontEnds: frontEnds
      ? mapped(frontEnds, (entry) => {
          const reading = read(entry);
          const registrations = usable(reading, names);
          const apis = entry.apis.map(read);
          const clients = entry.clients && read(entry.clients);
          const { clientKeyFile: path } = reading.values;
          const clientKeys =
            path === undefined ? path : readSecrets(reading, path, 'clientKeyFile');
          return { ...reading, ...namedBy(entry), apis, clients, clientKeys, registrations };
        })
      : [{ ...relay, ...withoutEntry, registrations: names }],
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
export function namingOf(
  { relay, registrations, frontEnds }: Readings,
  registration: string,
  frontEnd: string,
): Naming {
  const find = <One extends { readonly name: string }>(readings: NonEmpty<One>, name: string) =>
    readings.find((one) => one.name === name) ?? readings[0];
  const owners = {
    relay,
    providers: find(registrations, registration),
    'front-ends': find(frontEnds, frontEnd),
    proxy: relay,
    allow: relay,
    clients: relay,
  };
  const ownerOf = (name: SettingName) => owners[settings[name].level];
  return {
    sourceOf: (name) => ownerOf(name).sourceOf(name),
    describe(name) {
      const owner = ownerOf(name);
      return owner.sourceOf(name) === undefined
        ? owner.describeMissing(name)
        : owner.describe(name);
    },
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

/** A list with at least one element. */
export type NonEmpty<Element> = readonly [Element, ...Element[]];

/** The same list with each element changed. */
export function mapped<Element, Result>(
  [first, ...others]: NonEmpty<Element>,
  change: (element: Element, index: number) => Result,
): NonEmpty<Result> {
  return [change(first, 0), ...others.map((element, index) => change(element, index + 1))];
}
