import type { Logger } from 'pino';
import type { CountedLimit } from '../limits.ts';

const quietTime = 60_000;

/**
 * Logs that a limit is hit: at once, and then at most once a minute with the number of hits since. A
 * flood of requests must not flood the log.
 */
export function limitLog(logger: Logger): (limit: CountedLimit) => void {
  const unlogged = new Map<CountedLimit, number>();

  function log(limit: CountedLimit, hits: number): void {
    logger.warn({ limit, hits }, 'limit hit');
    unlogged.set(limit, 0);
    setTimeout(() => {
      const more = unlogged.get(limit) ?? 0;
      unlogged.delete(limit);
      if (more > 0) log(limit, more);
    }, quietTime).unref();
  }

  return (limit) => {
    const waiting = unlogged.get(limit);
    if (waiting === undefined) log(limit, 1);
    else unlogged.set(limit, waiting + 1);
  };
}
