import assert from 'node:assert/strict';
import { readTextFile } from '../../src/cli/text-files.ts';
import { placedTexts } from '../../src/config/fault.ts';
import type { ConfigFile, FileSettings } from '../../src/config/file/entries.ts';
import { printFile } from '../../src/config/file/print.ts';
import { parseConfigFile } from '../../src/config/file/read.ts';
import { createReadings, type Readings } from '../../src/config/readings.ts';
import type { OptionSources } from '../../src/config/sources.ts';
import { ConfigError } from '../../src/start-errors.ts';

const path = '/etc/login-relay/config.yaml';
const fault = /^\/etc\/login-relay\/config\.yaml:[1-9]\d*:[1-9]\d* \S/;
// A text shorter than this can be in a message by chance.
const telling = 12;

/**
 * Fails where a file is neither refused with the places of its faults, nor read as what it prints.
 *
 * @param values texts of the file that no fault may quote
 */
export function checkConfigFile(text: string, values: readonly string[] = []): void {
  const { file, faults } = parsedFile(text, path);
  if (file === undefined || faults.length > 0) {
    assert.ok(faults.length > 0);
    for (const one of faults) {
      assert.match(one, fault);
      assert.doesNotMatch(one, /\p{Cc}|\p{Cf}/u, 'a fault has a control character');
      const quoted = values.find((value) => value.length >= telling && one.includes(value));
      assert.equal(quoted, undefined, 'a fault quotes a value');
    }
    return;
  }
  checkSettings(file, settingsOfFile(printFile(readingsOf(file)), path));
}

/** The settings of a file, unchecked, if it is clear what it means, and the faults of its form. */
export function parsedFile(text: string, from = 'config.yaml') {
  const faults = placedTexts();
  const relay = parseConfigFile(text, from, faults);
  const { providers, 'front-ends': frontEnds } = relay?.inside ?? {};
  const file = relay && { ...relay, relay, providers, frontEnds };
  return { file, faults: faults.inOrder() };
}

/** The settings of a file, unchecked. @throws {ConfigError} if its form has faults */
export function settingsOfFile(text: string, from?: string) {
  const { file, faults } = parsedFile(text, from);
  if (file === undefined || faults.length > 0) throw new ConfigError(faults);
  return file;
}

/** Reads settings whose faults do not matter. */
export function readingsOf(
  file: ConfigFile | undefined,
  sources: OptionSources = { flags: {}, environment: {} },
): Readings {
  const ignored = { faults: placedTexts(), warnings: placedTexts(), readFile: readTextFile };
  return createReadings({ ...sources, ...ignored, file });
}

/** Fails if the settings of a map, or of the maps in it, differ from those that were printed and read again. */
function checkSettings(
  { name, values, positions, inside }: FileSettings,
  again: FileSettings | undefined,
): void {
  assert.equal(again?.name, name);
  for (const [level, maps] of Object.entries(inside)) {
    const printed = new Map(Object.entries(again?.inside ?? {})).get(level) ?? [];
    for (const [index, map] of maps.entries()) checkSettings(map, printed[index]);
  }
  for (const [name, texts] of Object.entries(values)) {
    assert.ok(texts.length > 0 && texts.every((text) => typeof text === 'string' && text !== ''));
    // Secrets are masked.
    if (name === 'clientSecret' || name === 'tokenParams') continue;
    assert.deepEqual(new Map(Object.entries(again?.values ?? {})).get(name), texts, name);
  }
  for (const position of Object.values(positions)) {
    assert.ok(position.line >= 1 && position.column >= 1);
  }
}

/** The data is the file. */
export function fuzz(data: Buffer): void {
  checkConfigFile(data.toString());
}
