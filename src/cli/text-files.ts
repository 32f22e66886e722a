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
import type { TextFile } from '../config/files.ts';

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
