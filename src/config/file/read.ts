import { isMap, isScalar } from 'yaml';
import { ConfigError } from '../../start-errors.ts';
import { describeFault } from '../fault.ts';
import { type ReadFile, reasonOf, type TextFile, unreadableFile } from '../files.ts';
import { describeOption, options } from '../settings/settings.ts';
import { givenBySources, type OptionSources } from '../sources.ts';
import { type ConfigFile, describePlace, type PlacedTexts } from './config-file.ts';
import { readTop, type Source } from './entries.ts';
import { parseYaml, positionOf, type ReportAt, resolved } from './yaml.ts';

/** A configuration file that was read; undefined: there is none. */
export type ReadConfigFile = ReturnType<typeof readConfigFile>;

/**
 * Reads the configuration file that a flag or a variable names.
 *
 * @param faults gets the faults of its form, if it is clear what the rest means. The settings with faults have no texts
 * @returns undefined if none is named
 * @throws {ConfigError} if it cannot be read, or it is not clear what the rest means
 */
export function readConfigFile(sources: OptionSources, readFile: ReadFile, faults: PlacedTexts) {
  const given = givenBySources('config', sources);
  if (given === undefined) return undefined;
  const path = given.texts.join(' ');
  const fault = (message: string) =>
    new ConfigError([
      describeFault(describeOption('config'), options.config, given.texts, message),
    ]);
  // Faults and warnings begin with it, and such characters could change what a terminal shows.
  if (/[\p{Cc}\p{Cf}]/u.test(path)) {
    throw fault('has a control character');
  }
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    throw fault(reasonOf(error, unreadableFile) ?? 'names a file that cannot be read');
  }
  const { text, readableByGroup, readableByOthers } = file;
  const parsed = parseConfigFile(text, path, faults);
  if (parsed === undefined) throw new ConfigError(faults.inOrder());
  return {
    ...parsed,
    /** Whether only its owner can read it. */
    isPrivate: !readableByGroup && !readableByOthers,
  };
}

/**
 * Parses a configuration file. Its settings become the texts that their flags would have, with their places. Their
 * schemas do not check them yet.
 *
 * @param path where the text is from. It begins every fault, and paths in the file are relative to its directory
 * @param faults gets the faults of its form, which never quote a value
 * @returns undefined if it is not clear what the rest of the file means
 */
export function parseConfigFile(
  text: string,
  path: string,
  faults: PlacedTexts,
): ConfigFile | undefined {
  // The faults of a map are found again at each of its aliases.
  const report: ReportAt = (position, message) =>
    faults.add(`${describePlace(path, position)} ${message}`, position);
  const yaml = parseYaml(text, report);
  let isClear = true;
  const giveUp: ReportAt = (position, message) => {
    isClear = false;
    return report(position, message);
  };
  const file = yaml && readYaml({ path, yaml, report, giveUp });
  return isClear ? file : undefined;
}

function readYaml(source: Source): ConfigFile | undefined {
  const { path, yaml, report } = source;
  const content = resolved(yaml.document.contents, yaml);
  if (isMap(content)) return { path, ...readTop(content, source) };
  const isBlank = content === undefined || (isScalar(content) && content.value === null);
  if (isBlank) return { path, ...readTop(undefined, source) };
  return report(positionOf(content, yaml), 'is not a map of settings, such as port: 8000');
}
