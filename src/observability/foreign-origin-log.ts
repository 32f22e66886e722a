import type { Logger } from 'pino';
import { occasionally } from './occasionally.ts';

/** An origin as browsers send it. Anything else is not logged. @see RFC 6454 §6.2 */
const originForm = /^(null|[a-z][a-z0-9+.-]{0,30}:\/\/[A-Za-z0-9._:[\]-]{1,255})$/;

/**
 * Warns of requests from origins that are no front end's: once a minute for each origin, and for 20
 * origins a minute at most.
 *
 * @param configured the front end's origin; undefined if there are several front ends
 * @param now milliseconds on a clock that never goes back
 */
export function foreignOriginLog(
  logger: Pick<Logger, 'warn'>,
  configured: string | undefined,
  now?: () => number,
): (origin: string) => void {
  const atTimes = occasionally(now);
  return (received) => {
    const origin = originForm.test(received) ? received : '(not an origin)';
    atTimes(origin, () => {
      logger.warn({ origin, configuredOrigin: configured }, 'request from another origin');
    });
  };
}
