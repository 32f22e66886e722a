import { describePlace } from './fault.ts';
import type { FileSettings } from './file/entries.ts';
import type { Level } from './settings/setting.ts';
import { describeRow, optionNames, options, rowAt } from './settings/settings.ts';
import { type Given, givenBySources, type OptionSources } from './sources.ts';

/** The settings of a level: those of flags and variables, which override those of a map of the file. */
export function withSources<At extends Level>(
  given: OptionSources,
  level: At,
  map?: FileSettings<At>,
): FileSettings<At> {
  const values = { ...map?.values };
  const sources: Record<string, Given['source']> = {};
  for (const name of optionNames.filter((one) => options[one].level === level)) {
    const { source, texts } = givenBySources(name, given) ?? {};
    if (source === undefined || texts === undefined) continue;
    values[name] = texts;
    sources[name] = source;
  }
  return { level, prefix: '', positions: {}, inside: {}, ...map, values, sources };
}

/** Whether a map is below the top of a file: an entry, or inside one. */
export const isEntry = ({ path, level }: FileSettings) => path !== undefined && level !== 'relay';

/** What sets the setting. Undefined if its default applies. */
export const sourceOf = ({ values, sources }: FileSettings, name: string) =>
  values[name] && (sources?.[name] ?? 'file');

const isMachine = ({ values }: FileSettings) => values['kind']?.[0] === 'machine';

/** The default of a setting. A provider with an issuer, or with endpoints of its own in a file, has no preset. */
export function defaultOf(map: FileSettings, name: string): string | undefined {
  const { level, values } = map;
  // Programs only use OAuth requests.
  if (name === 'tokenDelivery' && (values['kind']?.[0] === 'native' || isMachine(map))) return 'code';
  // With flags, the contract's provider is GitHub, even with other endpoints.
  const replacing = isEntry(map) ? ['issuer', 'authorizeUrl', 'tokenUrl'] : ['issuer'];
  const isReplaced = name === 'provider' && replacing.some((one) => values[one] !== undefined);
  return isReplaced ? undefined : rowAt(level, name).default;
}

/** The effective texts of a setting, and their source. Undefined if nothing sets it, and it has no fixed default. */
export function findEffective(map: FileSettings, name: string) {
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
function placeOf(map: FileSettings, name: string) {
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

export const positionOf = (map: FileSettings, name: string) => placeOf(map, name)?.position;

/** Names a setting for people. In a file, a missing one has the place of its map. */
export const describe = (map: FileSettings, name: string) =>
  placeOf(map, name)?.described ?? describeRow(rowAt(map.level, name));

/** Names a setting for people, without a place if it is missing. */
export const describeGiven = (map: FileSettings, name: string) =>
  map.values[name] ? describe(map, name) : (placeOf(map, name)?.path ?? describe(map, name));

/** Names a map of a file: `config.yaml:12:5 providers.github`. */
export const describeMap = ({ path, position, prefix }: FileSettings) =>
  `${describePlace(path ?? '', position)} ${prefix.replace(/\.$/, '')}`;
