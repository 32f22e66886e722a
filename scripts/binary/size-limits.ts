import { statSync } from 'node:fs';
import type { Platform } from './platforms.ts';

// In bytes. Only ELF files lose their symbols, so the runtimes of other systems are larger.
const limits = { executable: 123_000_000, archive: 30_000_000 };

/**
 * Checks the size of a download.
 *
 * @throws if a file for Linux is too large
 */
export function holdSize(kind: keyof typeof limits, path: string, { os }: Platform): void {
  const { size } = statSync(path);
  const figures = `${path}: ${megabytes(size)} of at most ${megabytes(limits[kind])}`;
  if (os === 'linux' && size > limits[kind]) throw new Error(`too large: ${figures}`);
  process.stdout.write(`${os === 'linux' ? figures : `${path}: ${megabytes(size)}`}\n`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
