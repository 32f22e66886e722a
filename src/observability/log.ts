import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { isReadByJournal, withPriority } from './journal.ts';
import { type LogOutput, openLogOutput } from './log-output.ts';

const standardOutput = 1;

/**
 * Creates the logger of a process.
 *
 * @param settings.level the lowest level that is written
 * @param settings.format `json`: one object a line; `pretty`: for people. Default: `pretty` on a
 *   terminal, else `json`
 * @param settings.journalStream the variable `JOURNAL_STREAM`: lines for the journal carry their priority
 */
export async function createLogger(settings: {
  readonly level: string;
  readonly format: 'pretty' | 'json' | undefined;
  readonly journalStream?: string | undefined;
}): Promise<Logger> {
  const format = settings.format ?? (process.stdout.isTTY ? 'pretty' : 'json');
  const output = openLogOutput(standardOutput, (lost) => {
    logger.warn({ lost }, 'lines of the log were lost');
  });
  const forJournal = isReadByJournal(standardOutput, settings.journalStream);
  // Loaded only on a terminal.
  const pretty = format === 'pretty' ? (await import('./pretty-log.ts')).prettyLine : undefined;
  const logger = pino(
    {
      level: settings.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    formattedOutput(output, (line, level) => {
      const text = pretty?.(line) ?? line;
      return forJournal ? withPriority(level, text) : text;
    }),
  );
  return logger;
}

function formattedOutput(
  output: LogOutput,
  format: (line: string, level: number) => string,
): DestinationStream {
  const destination = {
    ...output,
    // With this property, pino sets `lastLevel` before each write.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string) => output.write(format(line, destination.lastLevel)),
  };
  return destination;
}

/** Resolves once every line is written, or after a second. */
export async function flushLog(logger: Logger): Promise<void> {
  await new Promise<void>((resolve) => logger.flush(() => resolve()));
}
