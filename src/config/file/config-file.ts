import type { Level } from '../settings/setting.ts';
import type { SettingName } from '../settings/settings.ts';

/** A place in a file. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The settings of one map of a file: not yet checked by their schemas. */
export interface FileSettings {
  readonly level: Level;
  /** The name of the entry; undefined for the relay as a whole. */
  readonly name?: string;
  /** What the keys follow when people read them, such as `providers.github.`; empty for the relay as a whole. */
  readonly prefix: string;
  /** Where the map begins, or its name is; undefined for the relay as a whole. */
  readonly position: Position | undefined;
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
  readonly level: 'providers' | 'front-ends';
  /** A word of a path. No other entry of the map has it. */
  readonly name: string;
  readonly position: Position;
  /** The entries of `proxy` of a front end. */
  readonly apis: readonly FileSettings[];
  readonly allow: FileSettings | undefined;
  /** `clients` of a front end. */
  readonly clients: FileSettings | undefined;
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
export function describePlace(path: string, position: Position | undefined): string {
  return position === undefined ? path : `${path}:${position.line}:${position.column}`;
}

/** Names an entry for people: `config.yaml:12:5 providers.github`. */
export function describeEntry(
  file: ConfigFile | undefined,
  entry: FileSettings | undefined,
): string {
  return `${describePlace(file?.path ?? '', entry?.position)} ${entry?.prefix.replace(/\.$/, '')}`;
}

/** Faults or warnings, each once. */
export type PlacedTexts = ReturnType<typeof placedTexts>;

const nowhere: Position = { line: 0, column: 0 };

export function placedTexts() {
  const places = new Map<string, Position>();
  return {
    /** @param position the place in the file that the text is about, if it is about one */
    add(text: string, position = nowhere): undefined {
      if (!places.has(text)) places.set(text, position);
    },
    /** In the order of the file, after those that are about no place in it. */
    inOrder: (): readonly string[] =>
      [...places]
        .sort(([, a], [, b]) => a.line - b.line || a.column - b.column)
        .map(([text]) => text),
  };
}
