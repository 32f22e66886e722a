import { describeFault } from './fault.ts';
import type { ConfigFile, FileEntry, PlacedTexts, Position } from './file/config-file.ts';
import {
  describeEntry,
  describePlace,
  describeSetting,
  pathOfSetting,
  positionOfSetting,
} from './file/config-file.ts';
import { mapped, type NonEmpty } from './non-empty.ts';
import {
  describeOption,
  isSettingOf,
  type OptionName,
  type OptionValues,
  options,
} from './settings/settings.ts';
import { type OptionSource, type OptionSources, readValues, sourceOf } from './sources.ts';
import type { NewFiles, ReadFile } from './text-file.ts';

/** What all readings share. */
export interface Given extends OptionSources {
  readonly readFile: ReadFile;
  /** Undefined: a missing file is a fault. */
  readonly newFiles?: NewFiles;
  readonly faults: PlacedTexts;
  readonly warnings: PlacedTexts;
  /** Undefined: what cannot be read is a fault. */
  readonly addUnseen: ((unseen: Unseen) => void) | undefined;
}

/** What this command cannot read, but the relay may. */
export interface Unseen {
  readonly message: string;
  readonly fix: string;
}

/** The settings of the relay, or of one entry of a file: what was given, and where faults and warnings go. */
export interface Reading extends Pick<Given, 'environment' | 'readFile' | 'newFiles'> {
  /** The values that are well formed. */
  readonly values: OptionValues;
  /** Undefined: flags and variables give the settings. */
  readonly entry: FileEntry | undefined;
  /** What sets the setting; undefined: its default applies. */
  sourceOf(setting: OptionName): OptionSource | undefined;
  /** Names a setting for people, as in `--origin (FRONTEND_ORIGIN)`. */
  describe(setting: OptionName): string;
  /** The same without its place in a file, if it is not there yet. */
  describeMissing(setting: OptionName): string;
  /** Reports a fault. The message completes a sentence that begins with the setting. */
  fault(setting: OptionName, message: string): void;
  /** Reports a fault of the entry at a place in the file. */
  faultAt(position: Position, setting: string, message: string): void;
  /** Reports what works but should be fixed. */
  warn(setting: OptionName, message: string): void;
  /**
   * Reports what only the relay's own user or service can read. The setting then gets a stand-in.
   * Undefined: that is a fault.
   */
  readonly unseen: ((setting: OptionName, message: string, fix: string) => void) | undefined;
}

/** Names the settings of one login for people, and says what sets them. */
export type Naming = Pick<Reading, 'describe' | 'sourceOf'>;

/** The readings of a configuration: of the relay as a whole, and of each registration and front end. */
export interface Readings {
  readonly relay: Reading;
  readonly providers: NonEmpty<Reading>;
  readonly frontEnds: NonEmpty<Reading>;
}

/** @param file undefined: flags and variables describe one registration and one front end */
export function createReadings(given: Given, file: ConfigFile | undefined): Readings {
  const relay = createReading(given, file, undefined);
  const read = (entries: ConfigFile['providers']): NonEmpty<Reading> =>
    entries === undefined ? [relay] : mapped(entries, (entry) => createReading(given, file, entry));
  return { relay, providers: read(file?.providers), frontEnds: read(file?.frontEnds) };
}

function createReading(
  given: Given,
  file: ConfigFile | undefined,
  entry: FileEntry | undefined,
): Reading {
  const { environment, readFile, newFiles, faults, warnings, addUnseen } = given;
  const sources: OptionSources = { ...given, inFile: file?.relay.values, entry };
  const source = (name: OptionName) => sourceOf(name, sources);
  /** How the file names a setting: with its place, and without. Undefined: it cannot have it. */
  function inFile(name: OptionName) {
    if (file === undefined) return undefined;
    const isOwn =
      entry !== undefined && (isSettingOf(entry.kind, name) || options[name].level === entry.kind);
    const owner = isOwn ? entry : undefined;
    if (owner !== undefined && name === 'pathName') {
      const described = `the name of ${describeEntry(file, owner)}`;
      return { described, path: described, position: owner.position };
    }
    if (!isSettingOf(owner?.kind ?? 'relay', name)) return undefined;
    return {
      described: describeSetting(file, owner, name),
      path: pathOfSetting(owner, name),
      position: positionOfSetting(file, owner, name),
    };
  }
  const placeOf = (name: OptionName) =>
    source(name) === 'flag' || source(name) === 'environment' ? undefined : inFile(name);
  const describe = (name: OptionName) => placeOf(name)?.described ?? describeOption(name);
  const fault = (name: OptionName, message: string) =>
    faults.add(describeFault(name, message, sources, describe(name)), placeOf(name)?.position);
  return {
    values: readValues(sources, fault),
    environment,
    readFile,
    ...(newFiles && { newFiles }),
    entry,
    sourceOf: source,
    describe,
    describeMissing: (name) => inFile(name)?.path ?? describeOption(name),
    fault,
    faultAt(position, setting, message) {
      const place = describePlace(file?.path ?? '', position);
      faults.add(`${place} ${entry?.kind}.${entry?.name}.${setting} ${message}`, position);
    },
    warn: (name, message) => warnings.add(`${describe(name)} ${message}`, placeOf(name)?.position),
    unseen:
      addUnseen &&
      ((name, message, fix) => addUnseen({ message: `${describe(name)} ${message}`, fix })),
  };
}

/** Names the settings of one login. A setting that nothing sets has no place. */
export function namingOf(
  { relay, providers, frontEnds }: Readings,
  registration: string,
  frontEnd: string,
): Naming {
  const find = (readings: NonEmpty<Reading>, name: string) =>
    readings.find(({ entry }) => entry?.name === name) ?? readings[0];
  const owners = {
    relay,
    providers: find(providers, registration),
    'front-ends': find(frontEnds, frontEnd),
    proxy: relay,
  };
  const ownerOf = (name: OptionName) => owners[options[name].level];
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

/** Reports flags and variables of what the file describes, and what neither it nor they describe. */
export function reportOutside(given: Given, { path, providers, frontEnds }: ConfigFile): void {
  for (const [kind, entries] of [
    ['providers', providers],
    ['front-ends', frontEnds],
  ] as const) {
    const names = (Object.keys(options) as OptionName[]).filter(
      (name) => options[name].level === kind,
    );
    const outside = names.filter((name) => sourceOf(name, given) !== undefined);
    if (entries === undefined && outside.length === 0) given.faults.add(`${path} has no ${kind}`);
    for (const name of entries === undefined ? [] : outside) {
      given.faults.add(
        `${describeOption(name)} is given, but ${path} has ${kind}: drop one of them`,
      );
    }
  }
}

/** Reports a parameter in a URL's query that the relay itself adds: it must not be there twice. */
export function reportOwnParameters(
  { values, fault }: Reading,
  setting: 'authorizeUrl' | 'tokenUrl' | 'userUrl' | 'revocationUrl' | 'frontendUrl',
  parameters: readonly string[],
): void {
  const query = values[setting]?.searchParams;
  const taken = parameters.find((parameter) => query?.has(parameter));
  if (taken) fault(setting, `must not have ${taken} in its query: the relay adds it`);
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
