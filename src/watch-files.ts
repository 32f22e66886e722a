import { unwatchFile, watchFile } from 'node:fs';

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
  let settling: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(settling);
    settling = setTimeout(onChange, interval).unref();
  };
  for (const path of paths) watchFile(path, { interval, persistent: false }, changed);
  return () => {
    for (const path of paths) unwatchFile(path, changed);
    clearTimeout(settling);
  };
}
