import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { didYouMean, findSuggestion, type Position, withItemNumber } from '../fault.ts';
import { acceptedWords, filePath, pathSegment } from '../schemas.ts';
import { isLenient, type Level, levels, takesList } from '../settings/setting.ts';
import { type FileSetting, fileSettings, options } from '../settings/settings.ts';
import type { MapPlace, SettingsMap } from '../settings-map.ts';
import type { Pair, ReportAt, Yaml } from './yaml.ts';

/** The file that is read, and where its faults and warnings go. */
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
  const lists = new Set<string>();
  const misspelt: string[] = [];
  for (const pair of pairs) {
    const { key, position, value } = pair;
    const innerLevel = levels[place.level].innerLevels?.find((level) => level === key);
    const setting = fileSettings[place.level].find((candidate) => candidate.key === key);
    const report = (message: string) => source.report(position, `${place.prefix}${key} ${message}`);
    if (innerLevel !== undefined) {
      if (isSwitchedOff(innerLevel, value)) continue;
      inside = { ...inside, [innerLevel]: readInnerMaps(innerLevel, pair, place.prefix, source) };
    } else if (setting !== undefined) {
      positions[setting.name] = position;
      if (isSeq(value)) lists.add(setting.name);
      values[setting.name] = readTexts(setting, value, source, report) ?? [];
    } else {
      const meant = reportUnknownKey(pair, place, source);
      if (meant) misspelt.push(meant);
    }
  }
  // A misspelt setting counts as set, so that it is not reported as missing as well.
  for (const name of misspelt) values[name] ??= [];
  return { ...place, path: source.path, values, positions, lists, inside };
}

/** Whether a level has `false` in place of a map, such as `browser: false`. */
const isSwitchedOff = (level: Level, value: Node | undefined) =>
  levels[level].isSwitch === true && isScalar(value) && value.value === false;

/**
 * Reads the value of a level's key: one map of settings (`pages`), a map of named maps (`providers`), or a list of maps
 * (`proxy`).
 *
 * @param prefix the path of the map around it, such as `providers.github.`
 */
function readInnerMaps(level: Level, pair: Pair, prefix: string, source: FileSource): readonly SettingsMap[] {
  const { shape } = levels[level];
  const path = `${prefix}${level}`;
  if (shape === 'list') return readList(level, pair, path, source);
  return shape === 'named' ? readNamedEntries(level, pair, path, source) : [readOneMap(level, pair, path, source)];
}

/** Reads one map of settings, such as `pages`. At a switch, `true` stands for an empty map. */
function readOneMap(level: Level, { value, position }: Pair, path: string, source: FileSource): SettingsMap {
  const { otherShape, empty, isSwitch } = levels[level];
  const pairs = source.yaml.readPairs(value);
  const isSwitchedOn = isSwitch && isScalar(value) && value.value === true;
  if (!isMap(value) && !isSwitchedOn) source.report(position, `${path} ${otherShape}`);
  else if (empty !== undefined && pairs.length === 0) source.report(position, `${path} ${empty}`);
  // Inside a lenient level, faults are only warnings.
  const within = isLenient(level) ? { ...source, report: source.warn } : source;
  return readSettings(pairs, { level, prefix: `${path}.`, position }, within);
}

/** Reads a map of entries. Without their names, the meaning of the rest of the file is unclear. */
function readNamedEntries(level: Level, { value, position }: Pair, path: string, source: FileSource) {
  const { maxEntries = 1, otherShape, empty } = levels[level];
  const pairs = source.yaml.readPairs(value);
  if (!isMap(value)) source.giveUp(position, `${path} ${otherShape}`);
  else if (empty !== undefined && pairs.length === 0) source.giveUp(position, `${path} ${empty}`);
  const firstTooMany = pairs[maxEntries];
  if (firstTooMany === undefined) return pairs.map((pair) => readNamedEntry(pair, level, source));
  source.giveUp(firstTooMany.position, `${path} has more than ${maxEntries} entries`);
  return [];
}

/** Reads a list of maps of settings, such as `proxy`. */
function readList(level: Level, { value, position }: Pair, path: string, source: FileSource): readonly SettingsMap[] {
  const { maxEntries = 1, otherShape, empty } = levels[level];
  const { yaml } = source;
  const reportInstead = (message: string, at = position): [] => {
    source.report(at, `${path} ${message}`);
    return [];
  };
  if (!isSeq(value)) return reportInstead(otherShape);
  if (empty !== undefined && value.items.length === 0) return reportInstead(empty);
  if (value.items.length > maxEntries) return reportInstead(`has more than ${maxEntries} entries`);
  return value.items.flatMap((item) => {
    const map = yaml.resolveAlias(item);
    const at = yaml.positionOf(item);
    if (!isMap(map)) return reportInstead('has an entry that is not a map', at);
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

/** Makes an entry that is named like a preset use it, unless the entry says itself which provider it is. */
function selectPresetByName(name: string, settings: SettingsMap): SettingsMap {
  const choices = ['provider', 'issuer', 'authorizeUrl', 'tokenUrl'] as const;
  const isChosen = choices.some((choice) => settings.values[choice] !== undefined);
  if (isChosen || !acceptedWords(options.provider.schema).includes(name)) return settings;
  return { ...settings, values: { ...settings.values, provider: [name] } };
}

/**
 * Reports an unknown key. It may be a secret, so it is quoted only if it looks like a key.
 *
 * @returns the name of the setting that was probably meant
 */
function reportUnknownKey({ key, position }: Pair, { level, prefix }: MapPlace, source: FileSource) {
  const { innerLevels = [] } = levels[level];
  const settings = fileSettings[level];
  const known = [...settings.map((setting) => setting.key), ...innerLevels];
  const byAlias = settings.find(({ aliases }) => aliases?.includes(key));
  const close = byAlias?.key ?? findSuggestion(key, known);
  // `<<` is the merge key of YAML 1.1, which some people expect to work.
  const isShown = /^([a-z]{1,12}(-[a-z]{1,12}){0,2}|<<)$/.test(key) || (close && /^[\w-]+$/.test(key));
  let message = `${prefix}${isShown ? key : 'a key'} is unknown${didYouMean(close)}`;
  if (key === 'path-name') message = 'path-name is what the name of an entry of providers gives';
  const ownLevel = findLevelOfKey(key);
  if (ownLevel !== undefined) message = `${prefix}${key} ${levels[ownLevel].misplaced}`;
  // A misspelt level is not read, so that the rest of the file may name entries that seem missing.
  const isMisspeltLevel = innerLevels.some((innerLevel) => innerLevel === close);
  const report = isMisspeltLevel ? source.giveUp : source.report;
  report(position, message);
  return settings.find((setting) => setting.key === close)?.name;
}

/** The first level that has a setting with this key. */
const findLevelOfKey = (key: string): Level | undefined =>
  (Object.keys(levels) as Level[]).find((level) => fileSettings[level].some((setting) => setting.key === key));

/** Reads the texts that a setting's flag would have; undefined after a fault. Paths become relative to the file. */
function readTexts(
  setting: FileSetting,
  value: Node | undefined,
  { path, yaml }: FileSource,
  report: (message: string) => undefined,
): readonly string[] | undefined {
  if (setting.map) return readLines(setting, value, yaml, report);
  const mayBeList = takesList(setting);
  const items: readonly unknown[] = mayBeList && isSeq(value) ? value.items : [value];
  const expected = mayBeList && !isSeq(value) ? 'one value or a list' : 'one value';
  if (items.length === 0) report('is an empty list');
  const texts = items.map((item, index) => {
    const reportItem = (message: string) => report(withItemNumber(index, items.length, message));
    return readText(setting, yaml.resolveAlias(item), expected, reportItem);
  });
  if (!texts.every((text) => text !== undefined)) return undefined;
  // A secret that was given instead of a path must not become the name of a file.
  if (setting.name === 'keyFile' && texts[0]?.includes('/') === false) {
    return report('must be a path with a slash, such as ./key');
  }
  if (setting.schema === filePath) return texts.map((text) => resolveFromFile(text, path));
  const { separator } = setting;
  return separator === undefined || texts.length === 0 ? texts : [texts.join(separator)];
}

/** Reads a map of texts as lines `key: value`; undefined after a fault. */
function readLines(
  setting: FileSetting,
  value: Node | undefined,
  yaml: Yaml,
  report: (message: string) => undefined,
): readonly string[] | undefined {
  if (!isMap(value)) return report('must be a map of names, each with a value');
  const pairs = yaml.readPairs(value);
  if (pairs.length === 0) return report('is an empty map');
  const lines = pairs.map(({ key, value: node }, index) => {
    const reportPair = (message: string) => report(withItemNumber(index, pairs.length, message));
    const text = readText(setting, node, 'one value', reportPair);
    // A line break would begin another line, such as another header.
    if (/\p{Cc}/u.test(`${key}${text}`)) return reportPair('has a line break or another control character');
    return text && `${key}: ${text}`;
  });
  return lines.every((line) => line !== undefined) ? lines : undefined;
}

/**
 * Reads a scalar as its text in the file: `010` stays `010`, and a long identifier keeps all digits. A setting that is
 * on or off takes `true` and `false` as well.
 *
 * @returns undefined after a fault
 */
function readText(
  setting: FileSetting,
  node: Node | undefined,
  expected: string,
  report: (message: string) => undefined,
): string | undefined {
  if (isMap(node)) return report(`must be ${expected}, not a map`);
  if (isSeq(node)) return report(`must be ${expected}, not a list`);
  if (!isScalar(node) || node.value === null || node.value === '') return report('has no value');
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
