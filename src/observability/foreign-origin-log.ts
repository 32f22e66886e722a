import type { Logger } from 'pino';

const quietTime = 60_000;
/** Anybody can send any origin: more of them in one minute are left out. */
const mostOrigins = 20;

/** An origin as browsers send it; anything else is not repeated. @see RFC 6454 §6.2 */
const originForm = /^(null|[a-z][a-z0-9+.-]{0,30}:\/\/[A-Za-z0-9._:[\]-]{1,255})$/;

/**
 * Warns of requests from another origin than the front end's: once a minute for each origin, and for 20
 * origins a minute at most.
 *
 * @param configured the front end's origin
 * @param now milliseconds
 */
export function foreignOriginLog(
  logger: Pick<Logger, 'warn'>,
  configured: string,
  now: () => number = performance.now.bind(performance),
): (origin: string) => void {
  const warnedAt = new Map<string, number>();
  return (received) => {
    const time = now();
    for (const [origin, then] of warnedAt) if (time - then >= quietTime) warnedAt.delete(origin);
    const origin = originForm.test(received) ? received : '(not an origin)';
    if (warnedAt.has(origin) || warnedAt.size >= mostOrigins) return;
    warnedAt.set(origin, time);
    logger.warn({ origin, configuredOrigin: configured }, 'request from another origin');
  };
}
