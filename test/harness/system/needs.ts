import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Suites and tests that run only if their needs are met on this machine. */
interface Conditional {
  describe(title: string, body: (this: Mocha.Suite) => void): void;
  it(title: string, body: (this: Mocha.Context) => void | Promise<void>): void;
}

/**
 * Declares tests that need something special. If it is missing, they are pending without their hooks, and
 * their title says why. CI allows no pending tests.
 *
 * @param need what it is, to complete "this machine has no …"
 */
export function needs(need: string, isMet: boolean): Conditional {
  if (isMet) return { describe, it };
  const leftOut = (title: string) => `${title} (left out: this machine has no ${need})`;
  return {
    describe: (title, body) => describe.skip(leftOut(title), body),
    it: (title, body) => it.skip(leftOut(title), body),
  };
}

/** Declares tests that need all of these programs in PATH. */
export function needsPrograms(...programs: readonly string[]): Conditional {
  const missing = programs.filter((program) => !isInPath(program));
  return needs(missing.join(', '), missing.length === 0);
}

/** Declares tests that only root can run, and that need all of these programs. */
export function needsRoot(...programs: readonly string[]): Conditional {
  return process.getuid?.() === 0 ? needsPrograms(...programs) : needs('root', false);
}

function isInPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
