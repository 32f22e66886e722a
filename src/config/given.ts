import { describePlace, type Position } from './fault.ts';
import type { FileSettings } from './file/entries.ts';
import type { Level } from './settings/setting.ts';
import { describeRow, isOptionAt, rowAt } from './settings/settings.ts';
import { type Given, givenBySources, type OptionSources } from './sources.ts';

/** What is in effect of a setting, and where it is from, for people. */
export interface Effective {
  readonly texts: readonly string[];
  readonly from: string;
}

/** Names settings for people, and says what sets them. */
export interface Naming<Name extends string> {
  /** What sets the setting; undefined: its default applies. */
  readonly sourceOf: (name: Name) => Given['source'] | undefined;
  /** Names a setting, as in `--origin (FRONTEND_ORIGIN)`. In a file, a missing one has the place of its map. */
  readonly describe: (name: Name) => string;
}

/**
 * What gives the settings of one map. Flags and variables give those of the relay, besides its file, and those that no
 * file gives.
 */
export function createGiven<At extends Level>(sources: OptionSources, map: FileSettings<At>) {
  const { level, path: file, prefix, position } = map;
  const isEntry = file !== undefined && level !== 'relay';

  /** What gives the setting its value; undefined: its default applies. */
  function given(name: string): Given | undefined {
    const isOption = !isEntry && isOptionAt(level, name);
    const texts = map.values[name];
    return (
      (isOption ? givenBySources(name, sources) : undefined) ?? (texts && { source: 'file', texts })
    );
  }

  const isGiven = (name: string) => given(name) !== undefined;

  /** Names what is at a place of the file: `config.yaml:12:5 providers.github`. */
  const at = (place: Position | undefined, what: string) =>
    `${describePlace(file ?? '', place)} ${what.replace(/\.$/, '')}`;

  /** How the file names the setting, and where it is; undefined: it cannot have it. */
  function placeOf(name: string) {
    if (file === undefined) return undefined;
    const { key, inFile } = rowAt(level, name);
    const place = { position: map.positions[name] ?? position, path: prefix + key };
    if (inFile !== null) return { ...place, described: at(place.position, place.path) };
    if (name !== 'pathName') return undefined;
    const described = `the name of ${at(position, prefix)}`;
    return { ...place, path: described, described };
  }

  const inFile = (name: string) =>
    (given(name)?.source ?? 'file') === 'file' ? placeOf(name) : undefined;
  const ofRow = (name: string) => describeRow(rowAt(level, name));

  return {
    isEntry,
    isGiven,
    textsOf: (name: string) => given(name)?.texts,
    sourceOf: (name: string) => given(name)?.source,
    /** Where the file has the setting, or would have it. */
    positionOf: (name: string) => inFile(name)?.position,
    describe: (name: string) => inFile(name)?.described ?? ofRow(name),
    /** The same without a place for a missing one. */
    describeGiven: (name: string) =>
      (isGiven(name) ? inFile(name)?.described : placeOf(name)?.path) ?? ofRow(name),
    /** Names the map itself. */
    described: at(position, prefix),
    /** @param otherwise the default of the setting */
    effective(name: string, otherwise: string | undefined): Effective | undefined {
      const row = rowAt(level, name);
      const { source, texts } = given(name) ?? {};
      if (texts === undefined) {
        return otherwise === undefined ? undefined : { texts: [otherwise], from: 'default' };
      }
      if (source !== 'file' && 'flag' in row) {
        const text = texts.join(' ');
        const parts = row.repeatable ? text.split(' ').filter((part) => part !== '') : [text];
        return { texts: parts, from: source === 'flag' ? row.flag : row.variable };
      }
      const place = map.positions[name];
      return { texts, from: place ? describePlace(file ?? '', place) : 'name of the entry' };
    },
  };
}
