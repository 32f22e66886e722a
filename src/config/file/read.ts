import { isMap, isScalar } from 'yaml';
import { ConfigError } from '../../failures/start-errors.ts';
import { type ReadFile, type TextFile, whyUnreadable } from '../../text-files.ts';
import { describeFault, describePlace, type PlacedMessages } from '../fault.ts';
import { findGivenOption, type OptionSources } from '../option-sources.ts';
import { levels } from '../settings/setting.ts';
import { describeRow, options } from '../settings/settings.ts';
import type { SettingsMap } from '../settings-map.ts';
import { readSettings } from './entries.ts';
import { parseYaml, type ReportAt } from './yaml.ts';

export type ReadConfigFile = ReturnType<typeof readConfigFile>;

/**
 * Reads the configuration file that a flag or a variable names; undefined if none does.
 *
 * @param faults collects faults of form after which the meaning of the rest is still clear
 * @param warnings collects what is ignored
 * @throws {ConfigError} if the file cannot be read, or its meaning is unclear
 */
export function readConfigFile(
  sources: OptionSources,
  readFile: ReadFile,
  faults: PlacedMessages,
  warnings: PlacedMessages,
) {
  const given = findGivenOption('config', sources);
  if (given === undefined) return undefined;
  const path = given.texts.join(' ');
  const errorAboutPath = (message: string) => {
    const described = describeRow(options.config);
    return new ConfigError([describeFault(described, options.config, given.texts, message)]);
  };
  // Faults and warnings begin with the path, and such characters could change what a terminal shows.
  if (/[\p{Cc}\p{Cf}]/u.test(path)) throw errorAboutPath('has a control character');
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    throw errorAboutPath(whyUnreadable(error));
  }
  const parsed = parseConfigFile(file.text, path, faults, warnings);
  if (parsed === undefined) throw new ConfigError(faults.inOrder());
  const isPrivate = !file.readableByGroup && !file.readableByOthers;
  return { ...parsed, isPrivate };
}

/**
 * Parses a configuration file. Its settings become the texts that their flags would have, with places; their schemas
 * have not checked them yet.
 *
 * @param path begins every fault, and paths in the file are relative to its directory
 * @param faults collects faults of form, without any value. Settings with faults have no texts
 * @returns undefined if the meaning of the file is unclear
 */
export function parseConfigFile(
  text: string,
  path: string,
  faults: PlacedMessages,
  warnings: PlacedMessages,
): SettingsMap<'relay'> | undefined {
  let isClear = true;
  const reportTo =
    (messages: PlacedMessages): ReportAt =>
    (position, message) =>
      messages.add(`${describePlace(path, position)} ${message}`, position);
  const report = reportTo(faults);
  const giveUp: ReportAt = (position, message) => {
    isClear = false;
    return report(position, message);
  };
  const yaml = parseYaml(text, report);
  if (yaml === undefined) return undefined;
  const { content, readPairs, positionOf } = yaml;
  const isBlank = content === undefined || (isScalar(content) && content.value === null);
  if (!isMap(content) && !isBlank) giveUp(positionOf(content), levels.relay.otherShape);
  const place = { level: 'relay', prefix: '' } as const;
  const source = { path, yaml, report, warn: reportTo(warnings), giveUp };
  const file = readSettings(readPairs(content), place, source);
  return isClear ? { ...file, level: 'relay' } : undefined;
}
