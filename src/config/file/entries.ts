import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { limits } from '../../limits.ts';
import { didYouMean, numbered, suggestion } from '../fault.ts';
import { acceptedWords, filePath, pathSegment } from '../schemas.ts';
import type { Level, Setting } from '../settings/setting.ts';
import { type FileSetting, fileSettings, options, type SettingName } from '../settings/settings.ts';
import type { ConfigFile, FileEntry, FileSettings, Position } from './config-file.ts';
import { type Pair, pairsOf, positionOf, type ReportAt, resolved, type Yaml } from './yaml.ts';

/** The file that settings are read from. */
export interface Source {
  readonly path: string;
  readonly yaml: Yaml;
  readonly report: ReportAt;
  /** Reports a fault after which it is not clear what the rest of the file means. */
  readonly giveUp: ReportAt;
}

/** The map that settings are in. In place of a word that cannot be a name, faults have another prefix. */
type Place = Pick<FileSettings, 'level' | 'prefix' | 'position'>;

/** Endpoints after `/auth/<provider>/`: no front end can have their names. */
export const endpoints: readonly string[] = ['callback', 'token', 'revoke'];

/** The keys of a level that hold the settings of another one. */
const mapsIn: Readonly<Partial<Record<Level, readonly string[]>>> = {
  relay: ['providers', 'front-ends'],
  providers: ['allow'],
  'front-ends': ['proxy', 'allow', 'clients'],
};

/** What is said of the key of another level. */
const belongs: Readonly<Record<Level, string>> = {
  relay: 'belongs to the whole relay: move it to the top of the file, without indentation',
  providers: 'belongs to a provider: move it into an entry of providers',
  'front-ends': 'belongs to a front end: move it into an entry of front-ends',
  proxy: 'belongs to an API: move it into an entry of proxy, in a front end',
  allow: 'says who may log in: move it into allow, in a provider or a front end',
  clients: 'belongs to clients that nobody registered: move it into clients, in a front end',
};

/** Reads the map of the whole file. */
export function readTop(map: YAMLMap | undefined, source: Source): Omit<ConfigFile, 'path'> {
  const pairs = map ? pairsOf(map, source.yaml, source.report) : [];
  const find = (name: string) => pairs.find(({ key }) => key === name);
  const [providers, frontEnds] = [find('providers'), find('front-ends')];
  const others = pairs.filter((pair) => pair !== providers && pair !== frontEnds);
  return {
    relay: readSettings(others, { level: 'relay', prefix: '', position: undefined }, source),
    providers: providers && readEntries(providers, 'providers', source),
    frontEnds: frontEnds && readEntries(frontEnds, 'front-ends', source),
  };
}

/** Reads the entries of `providers` or `front-ends`. Undefined after reporting that there are none. */
function readEntries(
  { value, position }: Pair,
  level: FileEntry['level'],
  source: Source,
): ConfigFile['providers'] {
  const { yaml, report, giveUp } = source;
  if (!isMap(value))
    return giveUp(position, `${level} is not a map of names, each with its settings`);
  const most = level === 'providers' ? limits.registrations : limits.frontEnds;
  const pairs = pairsOf(value, yaml, report);
  const beyond = pairs[most];
  if (beyond) return giveUp(beyond.position, `${level} has more than ${most} entries`);
  const [first, ...others] = pairs.map((pair) => readEntry(pair, level, source));
  if (first === undefined) giveUp(position, `${level} has no entries`);
  return first && [first, ...others];
}

function readEntry(
  { key: name, position, value }: Pair,
  level: FileEntry['level'],
  source: Source,
): FileEntry {
  const { yaml, report, giveUp } = source;
  const [issue] = v.safeParse(pathSegment, name).issues ?? [];
  // A word that cannot be a name is left out of faults: it may be anything.
  const described = issue === undefined ? `${level}.${name}` : level;
  const prefix = issue === undefined ? `${described}.` : `${level}: `;
  if (issue !== undefined) giveUp(position, `${level} has a name that ${issue.message}`);
  if (level === 'front-ends' && endpoints.includes(name)) {
    report(position, `${described} has the name of an endpoint: choose another name`);
  }
  if (!isMap(value)) report(position, `${described} is not a map of settings`);
  const pairs = isMap(value) ? pairsOf(value, yaml, report) : [];
  const proxy = pairs.find(({ key }) => key === 'proxy' && level === 'front-ends');
  const apis = proxy ? readApis(proxy, `${described}.proxy`, `${prefix}proxy.`, source) : [];
  const allowing = pairs.find(({ key }) => key === 'allow');
  const allow = allowing && readAllow(allowing, `${prefix}allow`, source);
  const open = pairs.find(({ key }) => key === 'clients' && level === 'front-ends');
  const clients = open && readClients(open, `${prefix}clients`, source);
  const nested = [proxy, allowing, open];
  const own = pairs.filter((pair) => !nested.includes(pair));
  const settings = readSettings(own, { level, prefix, position }, source);
  const values = withPreset(level, name, settings.values);
  return { ...settings, level, name, position, apis, allow, clients, values };
}

/** Gives a provider that has the name of a preset that preset, unless the entry names another provider. */
function withPreset(
  level: FileEntry['level'],
  name: string,
  values: FileEntry['values'],
): FileEntry['values'] {
  const choices = ['provider', 'issuer', 'authorizeUrl', 'tokenUrl'] as const;
  const isNamed = choices.some((choice) => values[choice] !== undefined);
  const isPreset = level === 'providers' && acceptedWords(options.provider.schema).includes(name);
  return isNamed || !isPreset ? values : { ...values, provider: [name] };
}

/** Reads `allow`: a map of rules. Without one, everybody could log in. */
function readAllow({ value, position }: Pair, prefix: string, source: Source): FileSettings {
  const { yaml, report } = source;
  if (!isMap(value)) report(position, `${prefix} is not a map of rules, such as users: [octocat]`);
  const pairs = isMap(value) ? pairsOf(value, yaml, report) : [];
  if (isMap(value) && pairs.length === 0) report(position, `${prefix} has no rule`);
  return readSettings(pairs, { level: 'allow', prefix: `${prefix}.`, position }, source);
}

/** Reads `clients` of a front end: a map of settings. */
function readClients({ value, position }: Pair, path: string, source: Source): FileSettings {
  const { yaml, report } = source;
  if (!isMap(value)) report(position, `${path} is not a map, such as registration: true`);
  const pairs = isMap(value) ? pairsOf(value, yaml, report) : [];
  return readSettings(pairs, { level: 'clients', prefix: `${path}.`, position }, source);
}

/** Reads `proxy` of a front end: a list of maps. */
function readApis(
  { value, position }: Pair,
  described: string,
  prefix: string,
  source: Source,
): readonly FileSettings[] {
  const { yaml, report } = source;
  const fault = (at: Position, what: string): [] => {
    report(at, `${described} ${what}`);
    return [];
  };
  if (!isSeq(value)) return fault(position, 'is not a list of maps, each with path and url');
  const { items } = value;
  if (items.length === 0) fault(position, 'is an empty list');
  if (items.length > limits.apisOfFrontEnd) {
    return fault(position, `has more than ${limits.apisOfFrontEnd} entries`);
  }
  return items.flatMap((item) => {
    const [map, at] = [resolved(item, yaml), positionOf(item, yaml)];
    if (!isMap(map)) return fault(at, 'has an entry that is not a map');
    const place = { level: 'proxy', prefix, position: at } as const;
    return [readSettings(pairsOf(map, yaml, report), place, source)];
  });
}

/** Reads the settings of one map. Those with faults have no texts. */
function readSettings(pairs: readonly Pair[], place: Place, source: Source): FileSettings {
  const values: Partial<Record<SettingName, readonly string[]>> = {};
  const positions: Partial<Record<SettingName, Position>> = {};
  const misspelt: SettingName[] = [];
  for (const pair of pairs) {
    const setting = fileSettings[place.level].find(({ key }) => key === pair.key);
    if (setting === undefined) {
      misspelt.push(...reportUnknown(pair, place, source));
      continue;
    }
    const fault = (message: string) =>
      source.report(pair.position, `${place.prefix}${pair.key} ${message}`);
    positions[setting.name] = pair.position;
    values[setting.name] = textsOf(setting, pair.value, source, fault) ?? [];
  }
  // Otherwise, a misspelt setting would be reported as missing, too.
  for (const name of misspelt) values[name] ??= [];
  return { ...place, values, positions };
}

/**
 * Reports a key that is not known here. It may be a secret: only what looks like a key is quoted.
 *
 * @returns the setting that it may stand for
 */
function reportUnknown(
  { key, position }: Pair,
  { level, prefix }: Place,
  { report, giveUp }: Source,
): SettingName[] {
  const maps = mapsIn[level] ?? [];
  const close = suggestion(key, [...fileSettings[level].map((setting) => setting.key), ...maps]);
  const owner = (Object.keys(belongs) as Level[]).find((one) =>
    fileSettings[one].some((setting) => setting.key === key),
  );
  const isShown =
    /^([a-z]{1,12}(-[a-z]{1,12}){0,2}|<<)$/.test(key) || (close && /^[\w-]+$/.test(key));
  let message = `${prefix}${isShown ? key : 'a key'} is unknown${didYouMean(close)}`;
  if (key === 'path-name') message = 'path-name is what the name of an entry of providers gives';
  if (owner !== undefined) message = `${prefix}${key} ${belongs[owner]}`;
  (close !== undefined && maps.includes(close) ? giveUp : report)(position, message);
  return fileSettings[level].filter((setting) => setting.key === close).map(({ name }) => name);
}

/** Whether a setting takes a list as well as a single value. */
export function takesList({ separator, repeatable }: Setting): boolean {
  return repeatable !== undefined || separator !== undefined;
}

/** The texts that a setting's flag would have, with paths as the relay opens them. Undefined after a fault. */
function textsOf(
  setting: FileSetting,
  value: Node | undefined,
  { path, yaml }: Source,
  fault: (message: string) => undefined,
): readonly string[] | undefined {
  const isList = takesList(setting);
  const items = isSeq(value) && isList ? value.items : undefined;
  if (items?.length === 0) fault('is an empty list');
  const texts = items?.map((item, index) =>
    textOf(setting, resolved(item, yaml), 'one value', (message) =>
      fault(numbered(index, items.length, message)),
    ),
  ) ?? [textOf(setting, value, isList ? 'one value or a list' : 'one value', fault)];
  if (!texts.every((text) => text !== undefined)) return undefined;
  // A secret in place of a path must not become the name of a new file.
  if (setting.name === 'keyFile' && texts[0]?.includes('/') === false) {
    return fault('must be a path with a slash, such as ./key');
  }
  if (setting.schema === filePath) return texts.map((text) => fromFile(text, path));
  const { separator } = setting;
  return separator === undefined || texts.length === 0 ? texts : [texts.join(separator)];
}

/**
 * The text of a scalar as it is in the file: `010` is not 8, and a long identifier keeps all its digits.
 * `true` is also `on`, which it is in YAML 1.1.
 */
function textOf(
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

/** Takes a path in the file as relative to the file's directory. */
function fromFile(path: string, file: string): string {
  const directory = /^.*\//s.exec(file)?.[0] ?? './';
  return isAbsolute(path) ? path : directory + path.replace(/^(\.\/)+/, '');
}
