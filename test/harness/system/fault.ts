import { writeFile } from 'node:fs/promises';
import { needs, needsPrograms } from './needs.ts';

/** One line of the table of faults. */
interface Line {
  readonly done: string;
  readonly expected: string;
  readonly happened: string;
  /** Milliseconds from the end of the fault to the first normal answer. */
  readonly recovery: number | undefined;
}

/** The results of a test of a fault. */
export interface Account {
  /** The observation, as text. */
  happened(text: string): void;
  /** Measures the time of `recover`, which ends when the relay answers normally again. */
  recovery(recover: () => Promise<unknown>): Promise<void>;
}

const lines: Line[] = [];
const file = process.env['FAULTS_TABLE'];

/**
 * A test of one fault. It writes a line into the table that `$FAULTS_TABLE` names, if it is set.
 *
 * @param programs what the test runs
 */
export function fault(
  done: string,
  expected: string,
  test: (account: Account, context: Mocha.Context) => Promise<void>,
  programs: readonly string[] = [],
): void {
  // The faults need Linux.
  const { it } = process.platform === 'linux' ? needsPrograms(...programs) : needs('Linux', false);
  it(`${done}: ${expected}`, async function () {
    const seen: string[] = [];
    let recovery: number | undefined;
    await test(
      {
        happened: (text) => void seen.push(text),
        async recovery(recover) {
          const start = performance.now();
          await recover();
          recovery = performance.now() - start;
        },
      },
      this,
    );
    lines.push({ done, expected, happened: seen.join('; ') || 'so it was', recovery });
  });
}

after('the table of faults is written', async () => {
  if (file === undefined) return;
  const rows = lines.map(({ done, expected, happened, recovery }) => {
    const after = recovery === undefined ? '' : `${Math.ceil(recovery)} ms`;
    return `| ${done} | ${expected} | ${happened} | ${after} |\n`;
  });
  const head = '| done | expected | happened | recovered after |\n|---|---|---|---|\n';
  await writeFile(file, head + rows.join(''));
});
