import { randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { TextFile } from '../config/files.ts';

/** Reads a whole text file and who else may do the same. */
export function readTextFile(path: string): TextFile {
  const text = readFileSync(path, 'utf8');
  const { mode } = statSync(path);
  return {
    text,
    readableByGroup: (mode & constants.S_IRGRP) !== 0,
    readableByOthers: (mode & constants.S_IROTH) !== 0,
  };
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
