import { statSync } from 'node:fs';

const pollInterval = 1_000;

/**
 * Calls back after files were written or replaced, or are links with a new target. It checks every second, because that
 * works on every file system. Files that change together, such as a certificate and its key, cause one call.
 *
 * @param interval milliseconds between two checks, and between a change and the call
 * @returns a function that stops watching
 */
export function watchFiles(paths: readonly string[], onChange: () => void, interval = pollInterval): () => void {
  // fs.watchFile is not used, because it makes its first check later, and would miss a change until then.
  let reported = readVersions(paths);
  let previous = reported;
  const timer = setInterval(() => {
    const now = readVersions(paths);
    // If two checks agree, nothing is being written any more.
    if (now === previous && now !== reported) {
      reported = now;
      onChange();
    }
    previous = now;
  }, interval).unref();
  return () => clearInterval(timer);
}

/** Reads a text that identifies the present versions of all files. */
function readVersions(paths: readonly string[]): string {
  return paths.map(readVersion).join();
}

/** Reads a text that changes when a file is written or replaced. */
function readVersion(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'unreadable';
  }
}
