import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import { filePath, pathSegment } from '../schemas.ts';
import { didYouMean, suggestion } from '../suggestion.ts';
import type { FileSettings, Position, SettingName } from './config-file.ts';
import { type FileSetting, fileSettings, type Level, settingOf } from './keys.ts';
import type { Pair } from './pairs.ts';
import { textsOf } from './texts.ts';
import type { ReportAt, Yaml } from './yaml.ts';

/** The file that settings are read from. */
export interface Source {
  readonly path: string;
  readonly yaml: Yaml;
  readonly report: ReportAt;
  /** Reports a fault after which it is not clear what the rest of the file means. */
  readonly giveUp: ReportAt;
}

/** The map that settings are in; it has a name if it is an entry. */
export interface Place {
  readonly kind: Level;
  readonly name?: string;
}

/** Reads the settings of one level. Those with faults have no texts. */
export function readSettings(pairs: readonly Pair[], place: Place, source: Source): FileSettings {
  const values: Partial<Record<SettingName, readonly string[]>> = {};
  const positions: Partial<Record<SettingName, Position>> = {};
  const misspelt: SettingName[] = [];
  for (const pair of pairs) {
    const setting = settingOf(place.kind, pair.key);
    if (setting === undefined) {
      misspelt.push(...reportUnknown(pair, place, source));
      continue;
    }
    positions[setting.name] = pair.position;
    values[setting.name] = readTexts(setting, pair, place, source);
  }
  // Otherwise, a misspelt setting would be reported as missing, too.
  for (const name of misspelt) values[name] ??= [];
  return { values, positions };
}

/** The texts of a setting, with paths as the relay opens them. None after reporting a fault. */
function readTexts(
  setting: FileSetting,
  { key, position, value }: Pair,
  place: Place,
  source: Source,
): readonly string[] {
  const fault = (message: string) => source.report(position, `${prefixOf(place)}${key} ${message}`);
  const texts = textsOf(setting, value, source.yaml, fault) ?? [];
  if (isBareKeyFile(setting, texts)) {
    fault('must be a path with a slash, such as ./key');
    return [];
  }
  const isPath = setting.schema === filePath;
  return isPath ? texts.map((text) => fromFile(text, source.path)) : texts;
}

/** Reports a key that is not known here. Returns the setting that it may stand for, if there is one. */
function reportUnknown({ key, position }: Pair, place: Place, source: Source): SettingName[] {
  const similar = similarKey(key, place) ?? '';
  const isMap = maps[place.kind].includes(similar);
  (isMap ? source.giveUp : source.report)(position, unknownKey(key, place));
  const meant = settingOf(place.kind, similar);
  return meant === undefined ? [] : [meant.name];
}

function prefixOf({ kind, name = '' }: Place): string {
  if (kind === 'relay') return '';
  if (kind === 'proxy') return `${prefixOf({ kind: 'front-ends', name })}proxy.`;
  return v.is(pathSegment, name) ? `${kind}.${name}.` : `${kind}: `;
}

/** A secret in place of a path must not become the name of a new file. */
function isBareKeyFile({ name }: FileSetting, [text]: readonly string[]): boolean {
  return name === 'keyFile' && text?.includes('/') === false;
}

/** Takes a path in the file as relative to the file's directory. */
function fromFile(path: string, file: string): string {
  const directory = /^.*\//s.exec(file)?.[0] ?? './';
  return isAbsolute(path) ? path : directory + path.replace(/^(\.\/)+/, '');
}

const levels: readonly Level[] = ['relay', 'providers', 'front-ends', 'proxy'];

const belongs: Readonly<Record<Level, string>> = {
  relay: 'belongs to the whole relay: move it to the top of the file, without indentation',
  providers: 'belongs to a provider: move it into an entry of providers',
  'front-ends': 'belongs to a front end: move it into an entry of front-ends',
  proxy: 'belongs to an API: move it into an entry of proxy, in a front end',
};

/** The keys of each level whose values are not settings. */
const maps: Readonly<Record<Level, readonly string[]>> = {
  relay: ['providers', 'front-ends'],
  providers: [],
  'front-ends': ['proxy'],
  proxy: [],
};

const ordinaryKey = /^[a-z]{1,12}(-[a-z]{1,12}){0,2}$/;

/** What is wrong with a key that is not known here. It may be a secret: only what looks like a key is quoted. */
function unknownKey(key: string, place: Place): string {
  const level = levels.find((one) => settingOf(one, key) !== undefined);
  if (level !== undefined) return `${prefixOf(place)}${key} ${belongs[level]}`;
  if (key === 'path-name') return 'path-name is what the name of an entry of providers gives';
  const close = similarKey(key, place);
  const isShown = close === undefined ? ordinaryKey.test(key) : /^[\w-]+$/.test(key);
  const shown = isShown ? key : 'a key';
  return `${prefixOf(place)}${shown} is unknown${didYouMean(close)}`;
}

function similarKey(key: string, { kind }: Place): string | undefined {
  return suggestion(key, [...fileSettings[kind].map((setting) => setting.key), ...maps[kind]]);
}
