import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';

/**
 * Makes the logger of a process.
 *
 * @param settings.level least level that is written
 * @param settings.format `json`: one object a line; `pretty`: for a person at a terminal; by default
 *   whichever suits standard output
 * @param settings.pid tells the lines of several processes apart
 */
export async function createLogger(settings: {
  readonly level: string;
  readonly format: 'pretty' | 'json' | undefined;
  readonly pid?: number;
}): Promise<Logger> {
  const format = settings.format ?? (process.stdout.isTTY ? 'pretty' : 'json');
  return pino(
    {
      level: settings.level,
      base: settings.pid === undefined ? null : { pid: settings.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === 'json' ? destination(1) : await prettyStream(),
  );
}

// Only a terminal pays for loading the formatter.
async function prettyStream(): Promise<DestinationStream> {
  return (await import('./pretty-log.ts')).prettyStream();
}
