import { needs, needsPrograms } from './needs.ts';

/**
 * A test of one fault. The faults need Linux.
 *
 * @param programs what the test runs
 */
export function fault(
  done: string,
  expected: string,
  test: (this: Mocha.Context) => Promise<void>,
  programs: readonly string[] = [],
): void {
  const { it } = process.platform === 'linux' ? needsPrograms(...programs) : needs('Linux', false);
  it(`${done}: ${expected}`, test);
}
