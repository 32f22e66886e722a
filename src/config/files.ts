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

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'names a file that does not exist',
  EACCES: 'names a file that this user may not read',
  EISDIR: 'names a directory, not a file',
};

/** Why a file cannot be read, as the end of a fault. */
export function whyUnreadable(error: unknown): string {
  return unreadable[codeOf(error)] ?? 'names a file that cannot be read';
}

/** Whether there is no file of this name. A blank one may count as none. */
export function isMissingFile(path: string, readFile: ReadFile, orBlank = false): boolean {
  try {
    return readFile(path).text.trim() === '' && orBlank;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

/** The `code` of an error of Node; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
