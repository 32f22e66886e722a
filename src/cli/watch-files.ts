import { statSync } from 'node:fs';

const pollInterval = 1_000;

/**
 * Calls back after files have changed: written, replaced, or links with a new target. The files are
 * checked every second, which works on every file system. Files that change together, such as a
 * certificate and its key, cause one call.
 *
 * @param interval milliseconds between two checks; after a change, also the pause before the call
 * @returns stops watching
 */
export function watchFiles(paths: readonly string[], onChange: () => void, interval = pollInterval): () => void {
  // fs.watchFile makes its first check later, and would miss a change until then.
  let reported = look(paths);
  let previous = reported;
  const timer = setInterval(() => {
    const now = look(paths);
    // Two equal looks in a row: nothing is being written any more.
    if (now === previous && now !== reported) {
      reported = now;
      onChange();
    }
    previous = now;
  }, interval).unref();
  return () => clearInterval(timer);
}

/** What tells one version of all files from another. */
function look(paths: readonly string[]): string {
  return paths.map(readVersion).join();
}

function readVersion(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'unreadable';
  }
}
