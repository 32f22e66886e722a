import type { OptionName } from './options.ts';
import type { Reading } from './reading.ts';

/** A small text file. */
export interface TextFile {
  readonly text: string;
  readonly readableByOthers: boolean;
}

/** Reads a file, or throws an error with Node's `code`. */
export type ReadFile = (path: string) => TextFile;

const reasons: Readonly<Record<string, string>> = {
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
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

/**
 * Reads a file that holds a secret, without its final newline.
 *
 * @param name the option that names the file, for what is reported
 * @returns undefined after reporting why the file cannot be used
 */
export function readSecretFile(
  { readFile, fault, warn }: Reading,
  name: OptionName,
  path: string,
): string | undefined {
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    fault(name, reasons[code] ?? 'names a file that cannot be read');
    return undefined;
  }
  if (file.readableByOthers) warn(name, 'names a file that every user can read: chmod o-r it');
  const text = file.text.replace(/\r?\n$/, '');
  if (text !== '') return text;
  fault(name, 'names an empty file');
  return undefined;
}
