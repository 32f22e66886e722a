import type { Logger } from 'pino';
import { stackFrames } from '../http/error-responder.ts';

/** Logs an uncaught error and ends the process: its state is unknown then. */
export function endOnUncaughtErrors(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ stack: stackFrames(error) }, 'uncaught error');
    logger.flush();
    process.exit(1);
  });
}
