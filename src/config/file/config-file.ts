import { fileSettings, type SettingName } from '../settings/settings.ts';

/** A place in a file. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Settings as a file gives them: not yet checked by their schemas. */
export interface FileSettings {
  /**
   * The texts of each setting, as its flag would give them: several if the flag is repeatable, none if the setting has
   * a fault of form.
   */
  readonly values: Readonly<Partial<Record<SettingName, readonly string[]>>>;
  /** Where the key of each setting is. */
  readonly positions: Readonly<Partial<Record<SettingName, Position>>>;
}

/** One entry of `providers` or `front-ends`. */
export interface FileEntry extends FileSettings {
  /** The map that it is in. */
  readonly kind: 'providers' | 'front-ends';
  /** A word of a path. No other entry of the map has it. */
  readonly name: string;
  /** Where its name is. */
  readonly position: Position;
  /** What `proxy` of a front end lists. */
  readonly apis: readonly FileApi[];
}

/** One entry of `proxy`. */
export interface FileApi extends FileSettings {
  /** Where it begins. */
  readonly position: Position;
}

/** A configuration file. */
export interface ConfigFile {
  /** The path that it was read from. */
  readonly path: string;
  /** The settings of the relay as a whole. */
  readonly relay: FileSettings;
  /** In the order of the file. Undefined: the file has no such map. */
  readonly providers: readonly [FileEntry, ...FileEntry[]] | undefined;
  readonly frontEnds: readonly [FileEntry, ...FileEntry[]] | undefined;
}

/** Names a place in a file for people, as editors understand it: `config.yaml:12:5`. */
export function describePlace(path: string, { line, column }: Position): string {
  return `${path}:${line}:${column}`;
}

/** Names an entry for people: `config.yaml:12:5 providers.github`. */
export function describeEntry({ path }: ConfigFile, entry: FileEntry): string {
  return `${describePlace(path, entry.position)} ${entry.kind}.${entry.name}`;
}

/**
 * Names a setting for people: `config.yaml:12:5 providers.github.scope`. A setting that is not in the file gets
 * the place of its entry.
 *
 * @param entry undefined: a setting of the relay as a whole
 */
export function describeSetting(
  file: ConfigFile,
  entry: FileEntry | undefined,
  name: SettingName,
): string {
  const position = positionOfSetting(file, entry, name);
  const place = position === undefined ? file.path : describePlace(file.path, position);
  return `${place} ${pathOfSetting(entry, name)}`;
}

/** Where a setting is; undefined: it is one of the relay as a whole, and not in the file. */
export function positionOfSetting(
  { relay }: ConfigFile,
  entry: FileEntry | undefined,
  name: SettingName,
): Position | undefined {
  return (entry ?? relay).positions[name] ?? entry?.position;
}

/** Names a setting for people, without its place: `providers.github.scope`. */
export function pathOfSetting(entry: FileEntry | undefined, name: SettingName): string {
  const key = fileSettings[entry?.kind ?? 'relay'].find((one) => one.name === name)?.key ?? name;
  return entry === undefined ? key : `${entry.kind}.${entry.name}.${key}`;
}

/** Faults or warnings, each once. */
export interface PlacedTexts {
  /** @param position the place in the file that the text is about, if it is about one */
  readonly add: (text: string, position?: Position) => void;
  /** In the order of the file, after those that are about no place in it. */
  readonly inOrder: () => readonly string[];
}

const nowhere: Position = { line: 0, column: 0 };

export function placedTexts(): PlacedTexts {
  const places = new Map<string, Position>();
  return {
    add(text, position = nowhere) {
      if (!places.has(text)) places.set(text, position);
    },
    inOrder: () =>
      [...places]
        .sort(([, a], [, b]) => a.line - b.line || a.column - b.column)
        .map(([text]) => text),
  };
}
