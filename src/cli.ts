import { CommanderError } from 'commander';
import { createProgram, describeUsageError, type Flags } from './command-line.ts';
import { ConfigError, readConfig } from './config.ts';
import { createLogger } from './log.ts';
import { startRelay } from './relay.ts';
import { ListenError } from './server.ts';
import { readTextFile } from './text-file.ts';

const exitFailure = 1;
const exitUsage = 2;

/**
 * Runs the command line.
 *
 * @param argv arguments after the program's name
 * @returns the exit code: 0 after a clean end, 1 where a port could not be opened, 2 where the
 *   command line or the configuration is at fault
 */
export async function main(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  // Also overwrites the arguments, a client secret among them, where other users could list them.
  process.title = 'login-relay';
  let exitCode = 0;
  const program = createProgram({ serve: (flags) => serve(flags, environment), demo }, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return explain(error);
  }
}

async function serve(
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const { config, warnings } = readConfig({ flags, environment, readFile: readTextFile });
  const logger = await createLogger({
    level: config.logLevel,
    format: config.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json'),
  });
  for (const warning of warnings) logger.warn(warning);
  const relay = await startRelay(config, logger);
  logger.info({ address: relay.address, callbackUrl: config.redirectUri }, 'listening');
  const signal = await untilSignal();
  logger.info({ signal }, 'stopping');
  await relay.close();
  return 0;
}

async function demo(port: string): Promise<number> {
  // Serving must not pay for loading what only the demo needs.
  const { startDemo, describeDemo } = await import('./demo/demo.ts');
  const running = await startDemo({ port: Number(port) });
  process.stdout.write(describeDemo(running));
  await untilSignal();
  await running.close();
  return 0;
}

/** Resolves on the first SIGINT or SIGTERM; the second one ends the process at once. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      resolve(signal);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    complain(`login-relay: ${describeUsageError(error)}`, 'See login-relay --help.');
    return exitUsage;
  }
  if (error instanceof ConfigError) {
    complain(
      'login-relay cannot start:',
      ...error.faults.map((fault) => `  ${fault}`),
      'See login-relay --help.',
    );
    return exitUsage;
  }
  if (error instanceof ListenError) {
    complain(`login-relay: ${error.message}`);
    return exitFailure;
  }
  throw error;
}

function complain(...lines: string[]): void {
  process.stderr.write(`${lines.join('\n')}\n`);
}
