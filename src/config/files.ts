import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
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

const readableByGroupBit = 0o040;
const readableByOthersBit = 0o004;

/** Reads a whole text file and who else may do the same. */
export function readTextFile(path: string): TextFile {
  const file = openSync(path, 'r');
  try {
    const { mode } = fstatSync(file);
    return {
      readableByGroup: (mode & readableByGroupBit) !== 0,
      readableByOthers: (mode & readableByOthersBit) !== 0,
      text: readFileSync(file, 'utf8'),
    };
  } finally {
    closeSync(file);
  }
}

/** Checks that this user can create a file there. @throws an error with Node's `code` */
export function expectCreatable(path: string): void {
  accessSync(dirname(path), constants.W_OK | constants.X_OK);
}

/**
 * Creates a file that only its owner can read: complete, or not at all.
 *
 * @returns false if the file exists: it stays as it is
 * @throws an error with Node's `code`
 */
export function createTextFile(path: string, text: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    // Unlike a renamed file, a link never replaces the file of another process.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Why a file cannot be read, by the `code` of the error. */
export const unreadableFile: Readonly<Record<string, string>> = {
  ENOENT: 'names a file that does not exist',
  EACCES: 'names a file that this user may not read',
  EISDIR: 'names a directory, not a file',
};

/** Whether there is no file of this name. */
export function isMissingFile(path: string, readFile: ReadFile): boolean {
  return isMissing(path, readFile, () => false);
}

/**
 * Whether a credential is missing or blank. The unit sets a blank default: without one, systemd would
 * not start the service, and the relay could not log what is missing.
 */
export function isMissingCredential(path: string, readFile: ReadFile): boolean {
  return isMissing(path, readFile, (text) => text.trim() === '');
}

function isMissing(path: string, readFile: ReadFile, isBlank: (text: string) => boolean): boolean {
  try {
    return isBlank(readFile(path).text);
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
    if (codeOf(error) === 'EACCES') return unread(name, reason, otherUser);
    fault(name, reason);
    return undefined;
  }
  if (file.readableByOthers) warn(name, 'names a file that every user can read: chmod o-r it');
  const text = file.text.replace(/\r?\n$/, '');
  if (text !== '') return text;
  fault(name, 'names an empty file');
  return undefined;
}
