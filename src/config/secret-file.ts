import type { Reading } from './reading.ts';
import type { OptionName } from './settings/settings.ts';
import type { ReadFile, TextFile } from './text-file.ts';

/** Why a file cannot be read, by the `code` of the error. */
export const unreadableFile: Readonly<Record<string, string>> = {
  ENOENT: 'names a file that does not exist',
  EACCES: 'names a file that this user may not read',
  EISDIR: 'names a directory, not a file',
};

/**
 * Whether a credential is missing or blank. The unit sets a blank default: without one, systemd would
 * not start the service, and the relay could not log what is missing.
 */
export function isMissingCredential(path: string, readFile: ReadFile): boolean {
  try {
    return readFile(path).text.trim() === '';
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

/** Whether there is no file of this name. */
export function isMissingFile(path: string, readFile: ReadFile): boolean {
  try {
    readFile(path);
    return false;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
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
 * @returns undefined after reporting why the file cannot be used
 */
export function readSecretFile(
  { readFile, fault, warn, unseen }: Reading,
  name: OptionName,
  path: string,
): string | undefined {
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    const reason = reasonOf(error, unreadableFile) ?? 'names a file that cannot be read';
    if (unseen !== undefined && codeOf(error) === 'EACCES') unseen(name, reason, otherUser);
    else fault(name, reason);
    return undefined;
  }
  if (file.readableByOthers) warn(name, 'names a file that every user can read: chmod o-r it');
  const text = file.text.replace(/\r?\n$/, '');
  if (text !== '') return text;
  fault(name, 'names an empty file');
  return undefined;
}
