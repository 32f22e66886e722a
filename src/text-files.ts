import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';

/** A small text file, and who besides its owner may read it. */
export interface TextFile {
  readonly text: string;
  /** The bytes of the file; undefined if a test or the demo makes the text up. */
  readonly bytes?: Buffer;
  readonly readableByGroup?: boolean;
  readonly readableByOthers: boolean;
}

/** Reads a file, or throws an error with the `code` of Node.js. */
export type ReadFile = (path: string) => TextFile;

/** Reads a whole text file. @throws an error with the `code` of Node.js */
export function readTextFile(path: string): TextFile {
  const bytes = fs.readFileSync(path);
  const { mode } = fs.statSync(path);
  return {
    text: bytes.toString(),
    bytes,
    readableByGroup: (mode & fs.constants.S_IRGRP) !== 0,
    readableByOthers: (mode & fs.constants.S_IROTH) !== 0,
  };
}

/** Creates files. Commands that create nothing have no `create`. */
export type NewFiles = Pick<typeof newFiles, 'expectCreatable'> & Partial<typeof newFiles>;

/** Creates files. Both functions throw an error with the `code` of Node.js. */
export const newFiles = {
  /** Checks that this user could create a file there, without creating it. */
  expectCreatable(path: string): void {
    fs.accessSync(dirname(path), fs.constants.W_OK | fs.constants.X_OK);
  },

  /**
   * Creates a file that only its owner can read, completely or not at all.
   *
   * @returns false if the file exists already; it is left unchanged
   */
  create(path: string, text: string): boolean {
    const draft = `${path}.${randomUUID()}`;
    try {
      fs.writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
      // Unlike a rename, a link never replaces the file of another process.
      fs.linkSync(draft, path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      fs.rmSync(draft, { force: true });
    }
  },
};

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'names a file that does not exist',
  EACCES: 'names a file that this user may not read',
  EISDIR: 'names a directory, not a file',
};

/** Says why a file cannot be read, as the end of a fault. */
export function whyUnreadable(error: unknown): string {
  return unreadable[codeOf(error)] ?? 'names a file that cannot be read';
}

/** Whether a file does not exist. @param options.orBlank whether a blank file counts as missing */
export function isMissingFile(
  path: string,
  readFile: ReadFile,
  { orBlank = false }: { readonly orBlank?: boolean } = {},
): boolean {
  try {
    const isBlank = readFile(path).text.trim() === '';
    return orBlank && isBlank;
  } catch (error) {
    // Any other error means that the file exists, but cannot be read.
    return codeOf(error) === 'ENOENT';
  }
}

/** The `code` of an error of Node.js; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
