import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { didYouMean, findSuggestion, type Position, withItemNumber } from '../fault.ts';
import { acceptedWords, filePath, pathSegment } from '../schemas.ts';
import { isLenient, type Level, levels, takesList } from '../settings/setting.ts';
import { type FileSetting, fileSettings, options } from '../settings/settings.ts';
import type { MapPlace, SettingsMap } from '../settings-map.ts';
import type { Pair, ReportAt, Yaml } from './yaml.ts';

export interface FileSource {
  readonly path: string;
  readonly yaml: Yaml;
  readonly report: ReportAt;
  readonly warn: ReportAt;
  /** Reports a fault that leaves the meaning of the rest of the file unclear. */
  readonly giveUp: ReportAt;
}

/** Reads the settings of one map, and of the maps inside. Settings with faults have no texts. */
export function readSettings(pairs: readonly Pair[], place: MapPlace, source: FileSource): SettingsMap {
  const values: Record<string, readonly string[]> = {};
  const positions: Record<string, Position> = {};
  let inside: SettingsMap['inside'] = {};
  const misspelt: string[] = [];
  for (const pair of pairs) {
    const { key, position, value } = pair;
    const level = levels[place.level].holds?.find((one) => one === key);
    const setting = fileSettings[place.level].find((one) => one.key === key);
    const fault = (message: string) => source.report(position, `${place.prefix}${key} ${message}`);
    if (level !== undefined && isSwitchedOff(level, value)) continue;
    if (level !== undefined) {
      inside = { ...inside, [level]: readInnerMaps(level, pair, place.prefix, source) };
    } else if (setting !== undefined) {
      positions[setting.name] = position;
      values[setting.name] = readTexts(setting, value, source, fault) ?? [];
    } else {
      const meant = reportUnknown(pair, place, source);
      if (meant) misspelt.push(meant);
    }
  }
  // Counts as set, without texts. Otherwise, it would also be reported as missing.
  for (const name of misspelt) values[name] ??= [];
  return { ...place, path: source.path, values, positions, inside };
}

/** Whether the key of a level says that there is no such map. */
const isSwitchedOff = (level: Level, value: Node | undefined) =>
  levels[level].isSwitch === true && isScalar(value) && value.value === false;

/** Reads the value of a level's key: a map of settings, a list of them, or named ones. */
function readInnerMaps(level: Level, pair: Pair, before: string, source: FileSource): readonly SettingsMap[] {
  const { shape, most = 1, otherShape, empty, isSwitch } = levels[level];
  const path = `${before}${level}`;
  if (shape === 'list') return readList(level, pair, path, source);
  const pairs = source.yaml.readPairs(pair.value);
  // If entries have no names, the meaning of the rest of the file is unclear.
  const report = shape === 'named' ? source.giveUp : source.report;
  const beyond = shape === 'named' ? pairs[most] : undefined;
  const isOn = isSwitch && isScalar(pair.value) && pair.value.value === true;
  if (!isMap(pair.value) && !isOn) report(pair.position, `${path} ${otherShape}`);
  else if (empty !== undefined && pairs.length === 0) report(pair.position, `${path} ${empty}`);
  if (beyond) report(beyond.position, `${path} has more than ${most} entries`);
  // Too many entries are not read at all, because each could have faults.
  if (shape === 'named') return beyond ? [] : pairs.map((one) => readNamedEntry(one, level, source));
  const within = isLenient(level) ? { ...source, report: source.warn } : source;
  return [readSettings(pairs, { level, prefix: `${path}.`, position: pair.position }, within)];
}

function readList(level: Level, { value, position }: Pair, path: string, source: FileSource): readonly SettingsMap[] {
  const { most = 1, otherShape, empty } = levels[level];
  const { yaml } = source;
  const fault = (message: string, at = position): [] => {
    source.report(at, `${path} ${message}`);
    return [];
  };
  if (!isSeq(value)) return fault(otherShape);
  if (empty !== undefined && value.items.length === 0) return fault(empty);
  if (value.items.length > most) return fault(`has more than ${most} entries`);
  return value.items.flatMap((item) => {
    const map = yaml.resolved(item);
    const at = yaml.positionOf(item);
    if (!isMap(map)) return fault('has an entry that is not a map', at);
    return [readSettings(yaml.readPairs(map), { level, prefix: `${path}.`, position: at }, source)];
  });
}

/** Reads an entry: a name, with a map of settings. */
function readNamedEntry({ key: name, position, value }: Pair, level: Level, source: FileSource) {
  const { yaml, report, giveUp } = source;
  const [issue] = v.safeParse(pathSegment, name).issues ?? [];
  // Faults do not quote an invalid name, because it may be a secret.
  const described = issue === undefined ? `${level}.${name}` : level;
  if (issue !== undefined) giveUp(position, `${level} has a name that ${issue.message}`);
  if (levels[level].takenNames?.includes(name)) {
    report(position, `${described} has the name of an endpoint: choose another name`);
  }
  if (!isMap(value)) report(position, `${described} is not a map of settings`);
  const prefix = issue === undefined ? `${described}.` : `${level}: `;
  const place = { level, name, prefix, position };
  const settings = readSettings(yaml.readPairs(value), place, source);
  return level === 'providers' ? selectPresetByName(name, settings) : settings;
}

/** An entry named like a preset uses it, unless it sets `provider`. */
function selectPresetByName(name: string, settings: SettingsMap): SettingsMap {
  const choices = ['provider', 'issuer', 'authorizeUrl', 'tokenUrl'] as const;
  const isNamed = choices.some((choice) => settings.values[choice] !== undefined);
  if (isNamed || !acceptedWords(options.provider.schema).includes(name)) return settings;
  return { ...settings, values: { ...settings.values, provider: [name] } };
}

/**
 * Reports an unknown key. It may be a secret, so it is quoted only if it looks like a key.
 *
 * @returns the setting that was probably meant
 */
function reportUnknown({ key, position }: Pair, { level, prefix }: MapPlace, source: FileSource) {
  const { holds = [] } = levels[level];
  const ofLevel = fileSettings[level];
  const known = [...ofLevel.map((setting) => setting.key), ...holds];
  const meant = ofLevel.find(({ aliases }) => aliases?.includes(key));
  const close = meant?.key ?? findSuggestion(key, known);
  const owner = (Object.keys(levels) as Level[]).find((one) =>
    fileSettings[one].some((setting) => setting.key === key),
  );
  const isShown = /^([a-z]{1,12}(-[a-z]{1,12}){0,2}|<<)$/.test(key) || (close && /^[\w-]+$/.test(key));
  let message = `${prefix}${isShown ? key : 'a key'} is unknown${didYouMean(close)}`;
  if (key === 'path-name') message = 'path-name is what the name of an entry of providers gives';
  if (owner !== undefined) message = `${prefix}${key} ${levels[owner].misplaced}`;
  // The content of a misspelt level is not read, so the rest may name entries that seem missing.
  (holds.some((one) => one === close) ? source.giveUp : source.report)(position, message);
  return ofLevel.find((setting) => setting.key === close)?.name;
}

/** The texts that a setting's flag would have, with paths as the relay opens them. Undefined after a fault. */
function readTexts(
  setting: FileSetting,
  value: Node | undefined,
  { path, yaml }: FileSource,
  fault: (message: string) => undefined,
): readonly string[] | undefined {
  if (setting.map) return readLines(setting, value, yaml, fault);
  const isList = takesList(setting);
  const items: readonly unknown[] = isList && isSeq(value) ? value.items : [value];
  const expected = isList && !isSeq(value) ? 'one value or a list' : 'one value';
  if (items.length === 0) fault('is an empty list');
  const texts = items.map((item, index) =>
    readText(setting, yaml.resolved(item), expected, (message) => fault(withItemNumber(index, items.length, message))),
  );
  if (!texts.every((text) => text !== undefined)) return undefined;
  // A secret that was given instead of a path must not become the name of a file.
  if (setting.name === 'keyFile' && texts[0]?.includes('/') === false) {
    return fault('must be a path with a slash, such as ./key');
  }
  if (setting.schema === filePath) return texts.map((text) => resolveFromFile(text, path));
  const { separator } = setting;
  return separator === undefined || texts.length === 0 ? texts : [texts.join(separator)];
}

/** The lines of a map of texts: `key: value`. Undefined after a fault. */
function readLines(
  setting: FileSetting,
  value: Node | undefined,
  yaml: Yaml,
  fault: (message: string) => undefined,
): readonly string[] | undefined {
  if (!isMap(value)) return fault('must be a map of names, each with a value');
  const pairs = yaml.readPairs(value);
  if (pairs.length === 0) return fault('is an empty map');
  const lines = pairs.map((pair, index) => {
    const named = (message: string) => fault(withItemNumber(index, pairs.length, message));
    const text = readText(setting, pair.value, 'one value', named);
    // A line break would begin another entry.
    const hasBreak = /\p{Cc}/u.test(`${pair.key}${text}`);
    return hasBreak ? named('has a line break or another control character') : text && `${pair.key}: ${text}`;
  });
  return lines.every((line) => line !== undefined) ? lines : undefined;
}

/**
 * The text of a scalar as written: `010` is not 8, and a long identifier keeps all digits. `on` means `true`, as in
 * YAML 1.1.
 */
function readText(
  setting: FileSetting,
  node: Node | undefined,
  expected: string,
  fault: (message: string) => undefined,
): string | undefined {
  if (isMap(node)) return fault(`must be ${expected}, not a map`);
  if (isSeq(node)) return fault(`must be ${expected}, not a list`);
  if (!isScalar(node) || node.value === null || node.value === '') return fault('has no value');
  const { value, source } = node;
  if (typeof value === 'string') return value;
  if (typeof value !== 'boolean') return source ?? String(value);
  const word = value ? 'on' : 'off';
  return acceptedWords(setting.schema).includes(word) ? word : String(value);
}

/** Resolves a path relative to the directory of the file. */
function resolveFromFile(path: string, file: string): string {
  const directory = /^.*\//s.exec(file)?.[0] ?? './';
  return isAbsolute(path) ? path : directory + path.replace(/^(\.\/)+/, '');
}
