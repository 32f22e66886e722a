import { describeFault } from './fault.ts';
import type { ConfigFile, FileEntry, Position } from './file/config-file.ts';
import { describeSetting, pathOfSetting, positionOfSetting } from './file/describe.ts';
import type { PlacedTexts } from './file/placed-texts.ts';
import { type OptionSources, type Report, readOptionValues, sourceOf } from './option-values.ts';
import { describeOption, type OptionName } from './options.ts';
import type { Reading, Unseen } from './reading.ts';
import type { NewFiles, ReadFile } from './secret-file.ts';

/** What readings share. */
export interface Given extends OptionSources {
  readonly readFile: ReadFile;
  readonly newFiles?: NewFiles;
  readonly faults: PlacedTexts;
  readonly warnings: PlacedTexts;
  /** Undefined: what cannot be read is a fault. */
  readonly addUnseen: ((unseen: Unseen) => void) | undefined;
}

/** The names of a setting in a file: with its place, and without. */
interface FileNames {
  readonly described: string;
  readonly path: string;
  readonly position: Position | undefined;
}

/** How a file names a setting of the relay as a whole, or of an entry. */
export function namesInFile(
  file: ConfigFile,
  entry: FileEntry | undefined,
  name: OptionName,
): FileNames {
  return {
    described: describeSetting(file, entry, name),
    path: pathOfSetting(entry, name),
    position: positionOfSetting(file, entry, name),
  };
}

/**
 * Reads settings from their sources.
 *
 * @param inFile how the file names a setting; undefined: it cannot have the setting
 */
export function createReading(
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
