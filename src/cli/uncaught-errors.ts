import type { Logger } from 'pino';
import { stackFrames } from '../http/stack-frames.ts';

/** Logs an error that nothing caught, and ends the process: nothing is known of its state then. */
export function endOnUncaughtErrors(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ stack: stackFrames(error) }, 'uncaught error');
    logger.flush();
    process.exit(1);
  });
}
