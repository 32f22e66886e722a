import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import type { TextFile } from './secret-file.ts';

const readableByOthersBit = 0o004;

/** Reads a whole text file and whether every user of the machine may do the same. */
export function readTextFile(path: string): TextFile {
  const file = openSync(path, 'r');
  try {
    return {
      readableByOthers: (fstatSync(file).mode & readableByOthersBit) !== 0,
      text: readFileSync(file, 'utf8'),
    };
  } finally {
    closeSync(file);
  }
}
