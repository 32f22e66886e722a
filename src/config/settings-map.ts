import { describePlace, type Position } from './fault.ts';
import { findGivenOption, type GivenOption, type OptionSources } from './option-sources.ts';
import type { Level } from './settings/setting.ts';
import { describeRow, optionNames, options, rowAt } from './settings/settings.ts';

/** The settings of one map of the file, or those that flags and variables give. No schema has checked them yet. */
export interface SettingsMap<At extends Level = Level> extends MapPlace {
  readonly level: At;
  /** The path of the file; undefined for flags and variables. */
  readonly path?: string;
  /**
   * The texts that each setting's flag would have: several if it can be repeated, none if the file has no text there.
   */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Whether a flag or a variable gave a text. The file gave all other texts. */
  readonly sources?: Readonly<Record<string, GivenOption['source']>>;
  readonly positions: Readonly<Record<string, Position>>;
  /** The settings whose value in the file is a list, even a list of one. */
  readonly lists?: ReadonlySet<string>;
  /** The maps inside, by level, in the order of the file. */
  readonly inside: { readonly [At in Level]?: readonly SettingsMap<At>[] };
}

/** The place of a map in the file, with which messages name it. */
export interface MapPlace {
  readonly level: Level;
  /** The name of the entry of `providers`, `resources` or `front-ends`, such as `github`. Other maps have no name. */
  readonly name?: string;
  /** Precedes keys in messages, such as `providers.github.`; empty for the relay as a whole. */
  readonly prefix: string;
  /** The place where the map or its name begins; undefined for the relay as a whole. */
  readonly position?: Position;
}

/** Merges the flags and variables of a level into a map of the file, which they override, or into an empty map. */
export function mergeOptions<At extends Level>(
  given: OptionSources,
  level: At,
  map?: SettingsMap<At>,
): SettingsMap<At> {
  const values = { ...map?.values };
  const sources: Record<string, GivenOption['source']> = {};
  for (const name of optionNames.filter((option) => options[option].level === level)) {
    const option = findGivenOption(name, given);
    if (option === undefined) continue;
    values[name] = option.texts;
    sources[name] = option.source;
  }
  return { level, prefix: '', positions: {}, inside: {}, ...map, values, sources };
}

/** Whether a map is below the top of a file: an entry, or inside one. */
export const isEntry = ({ path, level }: SettingsMap) => path !== undefined && level !== 'relay';

/** Whether a flag, a variable (`environment`) or the file sets a setting; undefined if nothing does. */
export const sourceOf = ({ values, sources }: SettingsMap, name: string) => values[name] && (sources?.[name] ?? 'file');

const isOfKind = ({ values }: SettingsMap, kind: 'native' | 'machine') => values['kind']?.[0] === kind;

/** The default text of a setting; undefined if it has no fixed default. */
export function defaultOf(map: SettingsMap, name: string): string | undefined {
  // Native programs and machines only use OAuth requests.
  if (name === 'tokenDelivery' && (isOfKind(map, 'native') || isOfKind(map, 'machine'))) return 'code';
  if (name === 'provider' && isWithoutPreset(map)) return undefined;
  return rowAt(map.level, name).default;
}

/**
 * Whether a provider uses no preset by default, because it has an issuer or, in a file, endpoints of its own. With
 * flags, the default stays GitHub even with other endpoints, because the contract says so.
 */
function isWithoutPreset(map: SettingsMap): boolean {
  const replacing = isEntry(map) ? ['issuer', 'authorizeUrl', 'tokenUrl'] : ['issuer'];
  return replacing.some((name) => map.values[name] !== undefined);
}

/**
 * The texts that a setting has in effect, and where they come from: a flag, a variable, a place in the file, or
 * `default`. Undefined without a value and without a default.
 */
export function findEffective(map: SettingsMap, name: string) {
  const texts = map.values[name];
  if (texts === undefined) {
    // A machine counts as `code` elsewhere, but its entry in a file must not have `token-delivery`.
    if (name === 'tokenDelivery' && isOfKind(map, 'machine')) return undefined;
    const text = defaultOf(map, name);
    return text === undefined ? undefined : { texts: [text], from: 'default' };
  }
  const row = rowAt(map.level, name);
  const source = sourceOf(map, name);
  if (source !== 'file' && 'flag' in row) {
    const text = texts.join(' ');
    // A variable has spaces between its values. Values that contain spaces (`lines`) are only possible in a file.
    const separate = row.repeatable ? text.split(' ').filter((part) => part !== '') : [text];
    return { texts: separate, from: source === 'flag' ? row.flag : row.variable };
  }
  // Only `provider` can be without a position. Then the name of the entry has selected the preset.
  const position = map.positions[name];
  return {
    texts,
    isList: map.lists?.has(name),
    from: position ? describePlace(map.path ?? '', position) : 'name of the entry',
  };
}

/** The place of a setting in the file, also if it is missing there; undefined without a file, or for an option. */
function placeOf(map: SettingsMap, name: string) {
  const { level, path: file, prefix, positions } = map;
  const isOption = (sourceOf(map, name) ?? 'file') !== 'file';
  if (file === undefined || isOption) return undefined;
  const { key, inFile } = rowAt(level, name);
  const position = positions[name] ?? map.position;
  // A file has no key for it: the name of an entry is the word in the paths of its provider.
  if (inFile === null) {
    const described = `the name of ${describeMap(map)}`;
    return { position, keyPath: described, described };
  }
  const keyPath = prefix + key;
  return { position, keyPath, described: `${describePlace(file, position)} ${keyPath}` };
}

/** The line and column of a setting in the file. For a missing setting, they are those of its map. */
export const positionOf = (map: SettingsMap, name: string) => placeOf(map, name)?.position;

/** Names a setting for people: `config.yaml:12:5 port`, or its flag and variable. A missing one is named at its map. */
export const describeSetting = (map: SettingsMap, name: string) =>
  placeOf(map, name)?.described ?? describeRow(rowAt(map.level, name));

/** Names a setting that people should correct or add: as `describeSetting` does, but a missing one without a place. */
export function describeForAdvice(map: SettingsMap, name: string): string {
  const isGiven = map.values[name] !== undefined;
  return isGiven ? describeSetting(map, name) : (placeOf(map, name)?.keyPath ?? describeSetting(map, name));
}

/** Names a map of a file: `config.yaml:12:5 providers.github`. */
export const describeMap = ({ path, position, prefix }: SettingsMap) =>
  `${describePlace(path ?? '', position)} ${prefix.replace(/\.$/, '')}`;
