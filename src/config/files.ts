import type { Reading } from './reading.ts';
import type { SettingName } from './settings/settings.ts';

/** A small text file. */
export interface TextFile {
  readonly text: string;
  readonly readableByGroup?: boolean;
  readonly readableByOthers: boolean;
}

/** Reads a file, or throws an error with Node's `code`. */
export type ReadFile = (path: string) => TextFile;

/** Creates files. Both functions throw an error with Node's `code`. */
export interface NewFiles {
  /** Checks that a file could be created, without creating it. */
  readonly expect: (path: string) => void;
  /**
   * Creates a file that only its owner can read. Undefined in commands that create nothing.
   *
   * @returns false if the file exists by now: it stays as it is
   */
  readonly create?: (path: string, text: string) => boolean;
}

/** Why a file cannot be read, by the `code` of the error. */
export const unreadableFile: Readonly<Record<string, string>> = {
  ENOENT: 'names a file that does not exist',
  EACCES: 'names a file that this user may not read',
  EISDIR: 'names a directory, not a file',
};

/** Whether there is no file of this name, or only one with a text that does not count. */
export function isMissingFile(
  path: string,
  readFile: ReadFile,
  countsNot = (_text: string) => false,
): boolean {
  try {
    return countsNot(readFile(path).text);
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

/**
 * Whether a credential is missing or blank. The unit sets a blank default: without one, systemd would
 * not start the service, and the relay could not log what is missing.
 */
export function isMissingCredential(path: string, readFile: ReadFile): boolean {
  return isMissingFile(path, readFile, (text) => text.trim() === '');
}

/** What an error of a file means, by its `code`. */
export function reasonOf(
  error: unknown,
  meanings: Readonly<Record<string, string>>,
): string | undefined {
  return meanings[codeOf(error)];
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const otherUser = 'run this command as root, or as the user of the relay';

/**
 * Reads a file that holds a secret, without its final newline.
 *
 * @param name the option that names the file, for what is reported
 * @returns undefined after reporting why the file cannot be used; a stand-in if only the relay may read it
 */
export function readSecretFile(
  { readFile, fault, warn, unread }: Reading,
  name: SettingName,
  path: string,
): string | undefined {
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    const reason = reasonOf(error, unreadableFile) ?? 'names a file that cannot be read';
    return codeOf(error) === 'EACCES' ? unread(name, reason, otherUser) : fault(name, reason);
  }
  if (file.readableByOthers) warn(name, 'names a file that every user can read: chmod o-r it');
  const text = file.text.replace(/\r?\n$/, '');
  return text === '' ? fault(name, 'names an empty file') : text;
}
