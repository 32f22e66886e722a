import type { Logger } from 'pino';
import { occasionally } from './occasionally.ts';

/**
 * Warns of logins that start under another host name than the base URL's: once a minute for each host,
 * and for 20 hosts a minute at most.
 */
export function otherHostLog(
  logger: Pick<Logger, 'warn'>,
  baseUrl: string,
): (host: string) => void {
  const atTimes = occasionally();
  return (host) =>
    atTimes(host, () => {
      logger.warn(
        { host, baseUrl },
        'login started under another host name: its callback fails, unless a proxy changes the Host header',
      );
    });
}
