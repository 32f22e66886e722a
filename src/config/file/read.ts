import { ConfigError } from '../../start-errors.ts';
import { describeFault } from '../fault.ts';
import { type OptionSources, rawValue } from '../option-values.ts';
import { type ReadFile, reasonOf, unreadableFile } from '../secret-file.ts';
import type { ConfigFile } from './config-file.ts';
import { parseConfigFile } from './parse.ts';
import type { PlacedTexts } from './placed-texts.ts';

/** A configuration file that was read. */
export interface ReadConfigFile extends ConfigFile {
  /** Whether only its owner can read it. */
  readonly isPrivate: boolean;
}

/**
 * Reads the configuration file that a flag or a variable names.
 *
 * @param faults gets the faults of its form, if it is clear what the rest means. The settings with faults have no texts
 * @returns undefined if none is named
 * @throws {ConfigError} if it cannot be read, or has other faults of form
 */
export function readConfigFile(
  sources: OptionSources,
  readFile: ReadFile,
  faults?: PlacedTexts,
): ReadConfigFile | undefined {
  const path = rawValue('config', sources);
  if (path === undefined) return undefined;
  // Faults and warnings begin with it, and such characters could change what a terminal shows.
  if (/[\p{Cc}\p{Cf}]/u.test(path)) {
    throw new ConfigError([describeFault('config', 'has a control character', sources)]);
  }
  const { text, readableByGroup, readableByOthers } = textOf(path, sources, readFile);
  const parsed = parseConfigFile(text, path, faults);
  const { file } = parsed;
  const isUnclear = file === undefined || faults === undefined;
  if ('faults' in parsed && isUnclear) throw new ConfigError(parsed.faults);
  return file && { ...file, isPrivate: !readableByGroup && !readableByOthers };
}

function textOf(path: string, sources: OptionSources, readFile: ReadFile) {
  try {
    return readFile(path);
  } catch (error) {
    const reason = reasonOf(error, unreadableFile) ?? 'names a file that cannot be read';
    throw new ConfigError([describeFault('config', reason, sources)]);
  }
}
