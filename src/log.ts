import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';

/**
 * Makes the logger of a process.
 *
 * @param settings.level least level that is written
 * @param settings.format `json`: one object a line; `pretty`: for a person at a terminal
 */
export async function createLogger(settings: {
  readonly level: string;
  readonly format: 'pretty' | 'json';
}): Promise<Logger> {
  return pino(
    {
      level: settings.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    settings.format === 'json' ? destination(1) : await prettyStream(),
  );
}

// Only a terminal pays for loading the formatter.
async function prettyStream(): Promise<DestinationStream> {
  return (await import('./pretty-log.ts')).prettyStream();
}
