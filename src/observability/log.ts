import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { openLogOutput } from './log-output.ts';

const standardOutput = 1;

/**
 * Makes the logger of a process.
 *
 * @param settings.level least level that is written
 * @param settings.format `json`: one object a line; `pretty`: for a person at a terminal; by default
 *   whichever suits standard output
 */
export async function createLogger(settings: {
  readonly level: string;
  readonly format: 'pretty' | 'json' | undefined;
}): Promise<Logger> {
  const format = settings.format ?? (process.stdout.isTTY ? 'pretty' : 'json');
  const output = openLogOutput(standardOutput, (lost) => {
    logger.warn({ lost }, 'lines of the log were lost');
  });
  const logger = pino(
    {
      level: settings.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === 'json' ? output : await prettyOutput(output),
  );
  return logger;
}

// Only a terminal pays for loading the formatter.
async function prettyOutput(output: DestinationStream): Promise<DestinationStream> {
  const { prettyLine } = await import('./pretty-log.ts');
  return { ...output, write: (line) => output.write(prettyLine(line)) };
}

/** Resolves once every line is out, or a second later. */
export async function flushLog(logger: Logger): Promise<void> {
  await new Promise<void>((resolve) => logger.flush(() => resolve()));
}
