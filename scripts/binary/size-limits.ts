import { statSync } from 'node:fs';
import type { Platform } from './platforms.ts';

// Bytes. Runtimes for other systems come as they are: only ELF files lose their symbols here.
const limits = { executable: 120_000_000, archive: 30_000_000 };

/**
 * Holds what is downloaded to its size.
 *
 * @throws where a file for Linux is larger than it may be
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
