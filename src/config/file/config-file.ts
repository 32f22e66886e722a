import type { OptionName } from '../options.ts';
import type { apiProxyOptions } from '../sections/api-proxy.ts';
import type { frontEndAccessOptions } from '../sections/front-end-access.ts';

/** The name of a setting that a file can give. */
export type SettingName =
  | OptionName
  | keyof typeof frontEndAccessOptions
  | keyof typeof apiProxyOptions;

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
