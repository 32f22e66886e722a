import { describePlace } from './fault.ts';
import type { FileSettings } from './file/entries.ts';
import type { Level } from './settings/setting.ts';
import { describeRow, optionNames, options, rowAt } from './settings/settings.ts';
import { type Given, givenBySources, type OptionSources } from './sources.ts';

/** The settings that flags and variables give of a level, besides those of the map of a file, if there is one. */
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

/** Whether it is an entry of a file, or inside of one. */
export const isEntry = ({ path, level }: FileSettings) => path !== undefined && level !== 'relay';

/** What sets the setting; undefined: its default applies. */
export const sourceOf = ({ values, sources }: FileSettings, name: string) =>
  values[name] && (sources?.[name] ?? 'file');

/**
 * The default of a setting. A provider with an issuer, or with its own endpoints in a file, has no preset.
 */
export function defaultOf(map: FileSettings, name: string): string | undefined {
  const { level, values } = map;
  // Programs log in with OAuth requests only.
  if (name === 'tokenDelivery' && values['kind']?.[0] === 'native') return 'code';
  // With flags, the contract's provider is GitHub with other endpoints.
  const others = isEntry(map) ? ['issuer', 'authorizeUrl', 'tokenUrl'] : ['issuer'];
  const hasOwn = name === 'provider' && others.some((one) => values[one] !== undefined);
  return hasOwn ? undefined : rowAt(level, name).default;
}

/** What is in effect of a setting, and where it is from, for people. Undefined: nothing sets it, and it has no fixed default. */
export function effective(map: FileSettings, name: string) {
  const row = rowAt(map.level, name);
  const [texts, otherwise, source] = [map.values[name], defaultOf(map, name), sourceOf(map, name)];
  if (texts === undefined) {
    return otherwise === undefined ? undefined : { texts: [otherwise], from: 'default' };
  }
  if (source !== 'file' && 'flag' in row) {
    const text = texts.join(' ');
    const parts = row.repeatable ? text.split(' ').filter((part) => part !== '') : [text];
    return { texts: parts, from: source === 'flag' ? row.flag : row.variable };
  }
  const position = map.positions[name];
  return { texts, from: position ? describePlace(map.path ?? '', position) : 'name of the entry' };
}

/** Where a file has the setting, or would have it, and how; undefined: it does not, or cannot. */
function placeOf(map: FileSettings, name: string) {
  const { level, path: file, prefix, positions } = map;
  if (file === undefined || (sourceOf(map, name) ?? 'file') !== 'file') return undefined;
  const { key, inFile } = rowAt(level, name);
  const position = positions[name] ?? map.position;
  const path = prefix + key;
  const ofName = `the name of ${describeMap(map)}`;
  if (inFile === null) return { position, path: ofName, described: ofName };
  return { position, path, described: `${describePlace(file, position)} ${path}` };
}

export const positionOf = (map: FileSettings, name: string) => placeOf(map, name)?.position;

/** Names a setting. In a file, a missing one has the place of its map. */
export const describe = (map: FileSettings, name: string) =>
  placeOf(map, name)?.described ?? describeRow(rowAt(map.level, name));

/** The same without a place for a missing one. */
export const describeGiven = (map: FileSettings, name: string) =>
  map.values[name] ? describe(map, name) : (placeOf(map, name)?.path ?? describe(map, name));

/** Names a map of a file: `config.yaml:12:5 providers.github`. */
export const describeMap = ({ path, position, prefix }: FileSettings) =>
  `${describePlace(path ?? '', position)} ${prefix.replace(/\.$/, '')}`;
