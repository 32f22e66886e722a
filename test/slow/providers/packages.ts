import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

/** Skips the suite if one of these Debian packages is not installed; on CI it fails. */
export function needPackages(suite: Context, packages: readonly string[]): void {
  const missing = packages.filter((name) => {
    // Null if the command does not exist, because the machine is not Debian.
    const stdout: string | null = spawnSync('dpkg-query', ['--status', name], {
      encoding: 'utf8',
    }).stdout;
    return !stdout?.includes('\nStatus: install ok installed\n');
  });
  if (missing.length === 0) return;
  const message = `install them first: apt-get install ${missing.join(' ')}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`    skipped: ${message}\n`);
  suite.skip();
}
