import type { Logger } from 'pino';
import { stackFrames } from '../http/error-responder.ts';

/** Waits for the first SIGINT or SIGTERM. The next such signal ends the process at once. */
export function waitForStopSignal(): Promise<NodeJS.Signals> {
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

/** Logs an uncaught error and ends the process, whose state is then unknown. */
export function endOnUncaughtErrors(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ stack: stackFrames(error) }, 'uncaught error');
    // `flush` writes the lines at once, unless the reader of the log is slow. Do not wait for a slow reader, because the
    // process would serve requests meanwhile.
    logger.flush();
    process.exit(1);
  });
}
