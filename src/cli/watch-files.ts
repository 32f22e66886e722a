import { statSync } from 'node:fs';

const pollInterval = 1_000;

/**
 * Calls back after files have changed, whether they were written, replaced, or are links that point
 * elsewhere now: they are looked at every second, which notices all of that on every file system.
 * Files that change together, as a certificate and its key do, make one call.
 *
 * @param interval milliseconds between two looks, and without a further change before the call
 * @returns stops watching
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void,
  interval = pollInterval,
): () => void {
  // Node's own watchFile looks for the first time a moment later: a change until then would be missed.
  let reported = look(paths);
  let last = reported;
  const timer = setInterval(() => {
    const now = look(paths);
    if (now === last && now !== reported) {
      reported = now;
      onChange();
    }
    last = now;
  }, interval).unref();
  return () => clearInterval(timer);
}

function look(paths: readonly string[]): string {
  return paths.map(versionOf).join();
}

function versionOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'unreadable';
  }
}
