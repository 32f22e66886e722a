import type { Logger } from 'pino';
import { stackFrames } from '../http/error-responder.ts';

/** The signals that a running command handles. */
export type Signals = typeof processSignals;

/** Handles the signals of this process. */
export const processSignals = {
  /** Resolves with the first SIGINT or SIGTERM; the second one ends the process at once. */
  stop() {
    return new Promise<NodeJS.Signals>((resolve) => {
      const stop = (signal: NodeJS.Signals) => {
        process.off('SIGINT', stop);
        process.off('SIGTERM', stop);
        resolve(signal);
      };
      process.on('SIGINT', stop);
      process.on('SIGTERM', stop);
    });
  },
  /** Calls back on every SIGHUP. `reload.ts` is what happens then. */
  onReload(reload: () => void) {
    process.on('SIGHUP', reload);
  },
};

/** Logs an uncaught error and ends the process: its state is unknown then. */
export function endOnUncaughtErrors(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ stack: stackFrames(error) }, 'uncaught error');
    logger.flush();
    process.exit(1);
  });
}
