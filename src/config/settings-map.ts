import { describePlace, type Position } from './fault.ts';
import type { Level } from './settings/setting.ts';
import { describeRow, optionNames, options, rowAt } from './settings/settings.ts';
import { findGivenOption, type GivenOption, type OptionSources } from './sources.ts';

/** The settings of one map of a file, or from flags and variables. Their schemas have not checked them yet. */
export interface SettingsMap<At extends Level = Level> extends MapPlace {
  readonly level: At;
  /** Undefined for flags and variables. */
  readonly path?: string;
  /**
   * The texts that each setting's flag would have: several if it can be repeated, none if the file has no text there.
   */
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly sources?: Readonly<Record<string, GivenOption['source']>>;
  readonly positions: Readonly<Record<string, Position>>;
  /** The maps inside, by level, in the order of the file. */
  readonly inside: { readonly [At in Level]?: readonly SettingsMap<At>[] };
}

export interface MapPlace {
  readonly level: Level;
  /** The name of an entry of `providers` or `front-ends`: a word of a path, unique in its map. */
  readonly name?: string;
  /** Precedes keys in messages, such as `providers.github.`; empty for the relay as a whole. */
  readonly prefix: string;
  /** Where the map or its name begins; undefined for the relay as a whole. */
  readonly position?: Position;
}

/** The settings of a level: those of flags and variables, which override those of a map of the file. */
export function mergeOptions<At extends Level>(
  given: OptionSources,
  level: At,
  map?: SettingsMap<At>,
): SettingsMap<At> {
  const values = { ...map?.values };
  const sources: Record<string, GivenOption['source']> = {};
  for (const name of optionNames.filter((one) => options[one].level === level)) {
    const { source, texts } = findGivenOption(name, given) ?? {};
    if (source === undefined || texts === undefined) continue;
    values[name] = texts;
    sources[name] = source;
  }
  return { level, prefix: '', positions: {}, inside: {}, ...map, values, sources };
}

/** Whether a map is below the top of a file: an entry, or inside one. */
export const isEntry = ({ path, level }: SettingsMap) => path !== undefined && level !== 'relay';

/** What sets the setting. Undefined if its default applies. */
export const sourceOf = ({ values, sources }: SettingsMap, name: string) => values[name] && (sources?.[name] ?? 'file');

const isMachine = ({ values }: SettingsMap) => values['kind']?.[0] === 'machine';

/** The default of a setting. A provider with an issuer, or with endpoints of its own in a file, has no preset. */
export function defaultOf(map: SettingsMap, name: string): string | undefined {
  const { level, values } = map;
  // Programs only use OAuth requests.
  if (name === 'tokenDelivery' && (values['kind']?.[0] === 'native' || isMachine(map))) return 'code';
  // With flags, the contract's provider is GitHub, even with other endpoints.
  const replacing = isEntry(map) ? ['issuer', 'authorizeUrl', 'tokenUrl'] : ['issuer'];
  const isReplaced = name === 'provider' && replacing.some((one) => values[one] !== undefined);
  return isReplaced ? undefined : rowAt(level, name).default;
}

/** The effective texts of a setting, and their source. Undefined if nothing sets it, and it has no fixed default. */
export function findEffective(map: SettingsMap, name: string) {
  const row = rowAt(map.level, name);
  const texts = map.values[name];
  const otherwise = defaultOf(map, name);
  const source = sourceOf(map, name);
  // A printed file must not set for a machine what a machine cannot have.
  if (texts === undefined && name === 'tokenDelivery' && isMachine(map)) return undefined;
  if (texts === undefined) {
    return otherwise === undefined ? undefined : { texts: [otherwise], from: 'default' };
  }
  if (source !== 'file' && 'flag' in row) {
    // The values in a variable are separated by spaces. Only `lines` have values with spaces, and no flag gives those.
    const text = texts.join(' ');
    const parts = row.repeatable ? text.split(' ').filter((part) => part !== '') : [text];
    return { texts: parts, from: source === 'flag' ? row.flag : row.variable };
  }
  // Only a preset has no position, because the name of an entry can select it.
  const position = map.positions[name];
  return { texts, from: position ? describePlace(map.path ?? '', position) : 'name of the entry' };
}

/** Where a file has a setting, or would have it. Undefined without a file, and for a flag or variable. */
function placeOf(map: SettingsMap, name: string) {
  const { level, path: file, prefix, positions } = map;
  if (file === undefined || (sourceOf(map, name) ?? 'file') !== 'file') return undefined;
  const { key, inFile } = rowAt(level, name);
  const position = positions[name] ?? map.position;
  const path = prefix + key;
  const ofName = `the name of ${describeMap(map)}`;
  // The word in the paths of a provider is the name of its entry.
  if (inFile === null) return { position, path: ofName, described: ofName };
  return { position, path, described: `${describePlace(file, position)} ${path}` };
}

export const positionOf = (map: SettingsMap, name: string) => placeOf(map, name)?.position;

/** Names a setting for people. In a file, a missing one has the place of its map. */
export const describeSetting = (map: SettingsMap, name: string) =>
  placeOf(map, name)?.described ?? describeRow(rowAt(map.level, name));

/** Names a setting for people, without a place if it is missing. */
export const describeForAdvice = (map: SettingsMap, name: string) =>
  map.values[name] ? describeSetting(map, name) : (placeOf(map, name)?.path ?? describeSetting(map, name));

/** Names a map of a file: `config.yaml:12:5 providers.github`. */
export const describeMap = ({ path, position, prefix }: SettingsMap) =>
  `${describePlace(path ?? '', position)} ${prefix.replace(/\.$/, '')}`;
