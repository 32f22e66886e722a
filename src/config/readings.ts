import { describeFault } from './fault.ts';
import type { ConfigFile, FileEntry, Position } from './file/config-file.ts';
import {
  describeEntry,
  describePlace,
  describeSetting,
  pathOfSetting,
  positionOfSetting,
} from './file/describe.ts';
import { fileSettings } from './file/keys.ts';
import type { PlacedTexts } from './file/placed-texts.ts';
import { type OptionSources, type Report, readOptionValues, sourceOf } from './option-values.ts';
import { describeOption, type OptionName, options } from './options.ts';
import type { Naming, Reading, Unseen } from './reading.ts';
import type { NewFiles, ReadFile } from './secret-file.ts';

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
  readonly providers: readonly [EntryReading, ...EntryReading[]];
  readonly frontEnds: readonly [EntryReading, ...EntryReading[]];
}

/** What readings share. */
export interface Given extends OptionSources {
  readonly readFile: ReadFile;
  readonly newFiles?: NewFiles;
  readonly faults: PlacedTexts;
  readonly warnings: PlacedTexts;
  /** Undefined: what cannot be read is a fault. */
  readonly addUnseen: ((unseen: Unseen) => void) | undefined;
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
    isOf('relay', name) ? namesOf(file, undefined, name) : undefined,
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
      if (isOf(entry.kind, name)) return namesOf(file, entry, name);
      if (name === 'pathName' && entry.kind === 'providers') {
        const described = `the name of ${describeEntry(file, entry)}`;
        return { described, path: described, position: entry.position };
      }
      return isOf('relay', name) ? namesOf(file, undefined, name) : undefined;
    }),
  });
  const entriesOf = (entries: ConfigFile['providers']): Readings['providers'] => {
    if (entries === undefined) return [withoutEntry(relay)];
    const [first, ...others] = entries;
    return [read(first), ...others.map(read)];
  };
  return { relay, providers: entriesOf(file.providers), frontEnds: entriesOf(file.frontEnds) };
}

/**
 * Names the settings of one login. A setting that nothing sets has no place.
 *
 * @param registration the name of an entry, if there are entries
 * @param frontEnd the same
 */
export function namingOf(
  { relay, providers, frontEnds }: Readings,
  registration: string,
  frontEnd: string,
): Naming {
  const readingOf = (entries: Readings['providers'], entryName: string) =>
    entries.find(({ entry }) => entry?.name === entryName)?.reading ?? entries[0].reading;
  const provider = readingOf(providers, registration);
  const ofFrontEnd = readingOf(frontEnds, frontEnd);
  const ownerOf = (name: OptionName): Reading => {
    if (isOf('providers', name) || name === 'pathName') return provider;
    return isOf('front-ends', name) ? ofFrontEnd : relay;
  };
  return {
    sourceOf: (name) => ownerOf(name).sourceOf(name),
    describe(name) {
      const owner = ownerOf(name);
      const isSet = owner.sourceOf(name) !== undefined;
      return isSet ? owner.describe(name) : owner.describeMissing(name);
    },
  };
}

/** The names of a setting in a file: with its place, and without. */
interface FileNames {
  readonly described: string;
  readonly path: string;
  readonly position: Position | undefined;
}

function namesOf(file: ConfigFile, entry: FileEntry | undefined, name: OptionName): FileNames {
  return {
    described: describeSetting(file, entry, name),
    path: pathOfSetting(entry, name),
    position: positionOfSetting(file, entry, name),
  };
}

/** @param inFile how the file names a setting; undefined: it cannot have the setting */
function createReading(
  { environment, readFile, newFiles, faults, warnings, addUnseen }: Given,
  sources: OptionSources,
  inFile: (name: OptionName) => FileNames | undefined,
): Reading {
  const source = (name: OptionName) => sourceOf(name, sources);
  const placeOf = (name: OptionName): FileNames | undefined => {
    const isOutside = source(name) === 'flag' || source(name) === 'environment';
    return isOutside ? undefined : inFile(name);
  };
  const describe = (name: OptionName) => placeOf(name)?.described ?? describeOption(name);
  const fault: Report = (name, message) =>
    faults.add(describeFault(name, message, sources, describe(name)), placeOf(name)?.position);
  return {
    values: readOptionValues(sources, fault),
    environment,
    readFile,
    newFiles,
    sourceOf: source,
    describe,
    describeMissing: (name) => inFile(name)?.path ?? describeOption(name),
    fault,
    warn: (name, message) => warnings.add(`${describe(name)} ${message}`, placeOf(name)?.position),
    unseen:
      addUnseen &&
      ((name, message, fix) => addUnseen({ message: `${describe(name)} ${message}`, fix })),
  };
}

/** What sets the options of an entry: flags and variables set only those of the relay as a whole. */
function ofEntry({ flags, environment, inFile }: OptionSources, entry: FileEntry): OptionSources {
  const ofRelay = fileSettings.relay.map(({ name }) => name);
  const { providers: _, ...values } = entry.values;
  const variables = (Object.keys(options) as OptionName[])
    .filter((name) => !ofRelay.includes(name))
    .map((name) => options[name].variable);
  return {
    flags: Object.fromEntries(Object.entries(flags).filter(([name]) => isOf('relay', name))),
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
      const isOfProvider = isOf('providers', name) || name === 'pathName';
      const isOfKind = kind === 'providers' ? isOfProvider : isOf(kind, name) && !isOfProvider;
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

/** Whether a setting belongs to a level of the file. */
function isOf(level: keyof typeof fileSettings, name: string): boolean {
  return fileSettings[level].some((setting) => setting.name === name);
}
