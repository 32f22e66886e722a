import { type Command, CommanderError } from 'commander';
import { wipeSecrets } from '../config/secret-variables.ts';
import { ConfigError, ListenError } from '../failures/start-errors.ts';
import { errorLevel, isReadByJournal, withPriority } from '../observability/systemd-journal.ts';
import { OutputError, printError, wrap } from './print.ts';
import { createProgram } from './program.ts';
import { describeUsageError } from './usage-error.ts';

const exitFailure = 1;
const exitUsage = 2;

/**
 * Runs the command line.
 *
 * @param argv arguments after the program's name
 * @returns the exit code: 0 after a normal end, 1 if a port could not be opened or a check failed, 2 if the command
 *   line or the configuration has faults
 */
export async function main(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  // The title overwrites the arguments in the process list, because they may contain the client secret.
  process.title = 'login-relay';
  // With DEBUG set, libraries write requests, with their tokens, to standard error.
  delete process.env['DEBUG'];
  // Without a listener, this signal opens a debugger, which can read every secret.
  process.on('SIGUSR1', () => {});
  let exitCode = 0;
  // Reloads read this copy of the variables, because secrets are wiped from the environment.
  const variables = { ...environment };
  wipeSecrets(process.env);
  const program = createProgram(variables, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return await explainError(error, program, argv);
  }
}

/** Says on standard error why the command failed, and returns the exit code. Rethrows unexpected errors. */
async function explainError(error: unknown, program: Command, argv: readonly string[]): Promise<number> {
  if (error instanceof CommanderError) {
    // Commander throws after --help and --version as well.
    if (error.exitCode === 0) return 0;
    await printLines(`login-relay: ${describeUsageError(error, program, argv)}`, 'See login-relay --help.');
    return exitUsage;
  }
  if (error instanceof ConfigError) {
    const title = argv[0] === 'config' ? 'The configuration has faults:' : 'login-relay cannot start:';
    const hint = argv.length === 0 ? ' A file can hold all settings: --config <file>.' : '';
    await printLines(title, ...error.faults.map((fault) => `  ${fault}`), `See login-relay --help.${hint}`);
    return exitUsage;
  }
  if (error instanceof ListenError || error instanceof OutputError) {
    await printLines(`login-relay: ${error.message}`);
    return exitFailure;
  }
  throw error;
}

/** Wraps a line for a terminal. All lines after the first are indented. */
function wrapFault(line: string, columns: number): string[] {
  const [first = '', ...rest] = wrap(line, columns - 4);
  return [first, ...rest.map((continuation) => `    ${continuation}`)];
}

/** Writes lines to standard error: wrapped for a terminal, or with the priority of an error for the journal. */
function printLines(...lines: string[]): Promise<void> {
  const { isTTY, columns } = process.stderr;
  const text = `${(isTTY ? lines.flatMap((line) => wrapFault(line, columns)) : lines).join('\n')}\n`;
  const forJournal = isReadByJournal(process.stderr.fd, process.env['JOURNAL_STREAM']);
  return printError(forJournal ? withPriority(errorLevel, text) : text);
}
