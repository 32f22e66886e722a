import { createReading, type Given, namesInFile } from './create-reading.ts';
import type { ConfigFile, FileEntry, Position } from './file/config-file.ts';
import {
  describeEntry,
  describePlace,
  describeSetting,
  positionOfSetting,
} from './file/describe.ts';
import { fileSettings, isSettingOf } from './file/keys.ts';
import { mapped, type NonEmpty } from './non-empty.ts';
import { type OptionSources, sourceOf } from './option-values.ts';
import { describeOption, type OptionName, options } from './options.ts';
import type { Reading } from './reading.ts';

/** The reading of one registration or one front end. */
export interface EntryReading {
  readonly reading: Reading;
  /** Undefined: flags and variables describe it. */
  readonly entry: FileEntry | undefined;
  /** Reports a fault of the front ends' setting that no flag gives. */
  faultOfProviders(message: string): void;
  /** Reports a fault of the entry at a place in the file. */
  faultAt(position: Position, setting: string, message: string): void;
}

/** The readings of a configuration: of the relay as a whole, and of each registration and front end. */
export interface Readings {
  readonly relay: Reading;
  readonly providers: NonEmpty<EntryReading>;
  readonly frontEnds: NonEmpty<EntryReading>;
}

/** @param file undefined: flags and variables describe one registration and one front end */
export function createReadings(given: Given, file: ConfigFile | undefined): Readings {
  if (file === undefined) {
    const reading = createReading(given, given, () => undefined);
    const only = withoutEntry(reading);
    return { relay: reading, providers: [only], frontEnds: [only] };
  }
  reportOutside(given, file);
  const settings: OptionSources = { ...given, inFile: file.relay.values };
  const relay = createReading(given, settings, (name) =>
    isSettingOf('relay', name) ? namesInFile(file, undefined, name) : undefined,
  );
  const read = (entry: FileEntry): EntryReading => ({
    entry,
    faultOfProviders: (message) =>
      given.faults.add(
        `${describeSetting(file, entry, 'providers')} ${message}`,
        positionOfSetting(file, entry, 'providers'),
      ),
    faultAt: (position, setting, message) =>
      given.faults.add(
        `${describePlace(file.path, position)} ${entry.kind}.${entry.name}.${setting} ${message}`,
        position,
      ),
    reading: createReading(given, ofEntry(settings, entry), (name) => {
      if (isSettingOf(entry.kind, name)) return namesInFile(file, entry, name);
      if (name === 'pathName' && entry.kind === 'providers') {
        const described = `the name of ${describeEntry(file, entry)}`;
        return { described, path: described, position: entry.position };
      }
      return isSettingOf('relay', name) ? namesInFile(file, undefined, name) : undefined;
    }),
  });
  const entriesOf = (entries: ConfigFile['providers']): NonEmpty<EntryReading> =>
    entries === undefined ? [withoutEntry(relay)] : mapped(entries, read);
  return { relay, providers: entriesOf(file.providers), frontEnds: entriesOf(file.frontEnds) };
}

/** What sets the options of an entry: flags and variables set only those of the relay as a whole. */
function ofEntry({ flags, environment, inFile }: OptionSources, entry: FileEntry): OptionSources {
  const ofRelay = fileSettings.relay.map(({ name }) => name);
  const { providers: _, ...values } = entry.values;
  const variables = (Object.keys(options) as OptionName[])
    .filter((name) => !ofRelay.includes(name))
    .map((name) => options[name].variable);
  return {
    flags: Object.fromEntries(Object.entries(flags).filter(([name]) => isSettingOf('relay', name))),
    environment: { ...environment, ...Object.fromEntries(variables.map((name) => [name, ''])) },
    inFile: { ...inFile, ...values },
  };
}

/** Reports flags and variables of what the file describes, and what neither it nor they describe. */
function reportOutside(given: Given, { path, providers, frontEnds }: ConfigFile): void {
  for (const [kind, entries] of [
    ['providers', providers],
    ['front-ends', frontEnds],
  ] as const) {
    const outside = (Object.keys(options) as OptionName[]).filter((name) => {
      const isOfProvider = isSettingOf('providers', name) || name === 'pathName';
      const isOfKind =
        kind === 'providers' ? isOfProvider : isSettingOf(kind, name) && !isOfProvider;
      return isOfKind && sourceOf(name, given) !== undefined;
    });
    if (entries === undefined) {
      if (outside.length === 0) given.faults.add(`${path} has no ${kind}`);
      continue;
    }
    for (const name of outside) {
      given.faults.add(
        `${describeOption(name)} is given, but ${path} has ${kind}: drop one of them`,
      );
    }
  }
}

/** The reading of what flags and variables describe. They have none of the settings that only a file can give. */
function withoutEntry(reading: Reading): EntryReading {
  const neverGiven = () => {
    throw new Error('only a file can give this setting');
  };
  return { reading, entry: undefined, faultOfProviders: neverGiven, faultAt: neverGiven };
}
