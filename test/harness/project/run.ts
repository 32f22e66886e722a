import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The project's own directory. */
export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** The result of a command. */
export interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one of the project's scripts.
 *
 * @returns its standard output
 * @throws if it fails
 */
export function runScript(
  path: string,
  { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string> } = {},
): string {
  return execFileSync(process.execPath, [`${projectRoot}/scripts/${path}`, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, ...env },
  });
}

/** Runs a program to its end. */
export function run(
  program: string,
  args: readonly string[],
  { cwd = projectRoot, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Ending {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    cwd,
    // The output of programs must not depend on the settings of the machine.
    env: { ...process.env, LC_ALL: 'C.UTF-8', ...env },
  });
  if (error) throw error;
  return { code: status, stdout, stderr };
}
