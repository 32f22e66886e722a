import type { ConfigFile, FileEntry, Position, SettingName } from './config-file.ts';
import { fileSettings } from './keys.ts';

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
