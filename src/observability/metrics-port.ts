import type { RequestListener } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { ListenError } from '../failures/start-errors.ts';
import { limits } from '../limits.ts';
import { type ListeningServer, listen, type Port } from '../server/server.ts';
import { occasionalWarning } from './occasional-warnings.ts';
import type { Metrics } from './request-metrics.ts';

// Few programs read metrics.
const serverLimits = { ...limits, connections: 64 };
type ServedMetrics = Pick<Metrics, 'contentType' | 'text'>;

const noObserver = { unreadableRequest() {}, limitHit() {} };

/** Opens the port that answers `GET /metrics`. @throws {ListenError} if the port cannot be opened */
export async function openMetricsPort(
  metrics: ServedMetrics | undefined,
  where: Port | undefined,
  logger: Pick<Logger, 'warn'>,
): Promise<ListeningServer | undefined> {
  if (metrics === undefined || where === undefined) return undefined;
  try {
    return await listen(metricsListener(metrics, where, logger), where, serverLimits, noObserver);
  } catch (error) {
    throw error instanceof ListenError ? new ListenError(`metrics: ${error.message}`) : error;
  }
}

/** Answers under its own address, `localhost` and the configured name only; any other `Host` gets 421. */
export function metricsListener(metrics: ServedMetrics, where: Port, logger: Pick<Logger, 'warn'>): RequestListener {
  const configured = addressHost(where.host);
  const isEveryAddress = configured === '0.0.0.0' || configured === '[::]';
  const warn = occasionalWarning(logger, 'metrics asked under another host name');
  // The DNS of an attacker can point a name of theirs here. Pages under that name could then read the metrics.
  const mayAsk = (host: string, address = '') =>
    host === 'localhost' ||
    host === configured ||
    host === addressHost(address) ||
    // A translated address, such as a published port of a container. No DNS answers for addresses.
    (isEveryAddress && isIP(host.replace(/^\[(.*)\]$/, '$1')) > 0);

  return async (request, response) => {
    const host = hostOf(request.headers.host ?? '');
    if (!mayAsk(host, request.socket.localAddress)) {
      const logged = host.length <= 253 ? host : '';
      warn(logged, { host: logged });
      response.writeHead(421, { 'Content-Type': 'text/plain' });
      response.end('Ask for the address of this port, for localhost, or for the name in --metrics-host.\n');
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    const text = await metrics.text();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  };
}

/** An IP address or a name as the host of a URL. */
function addressHost(address: string): string {
  return hostOf(isIPv6(address) ? `[${address}]` : address);
}

/** A host without its port, as browsers write it; empty if it is none. */
function hostOf(text: string): string {
  return URL.parse(`http://${text}`)?.hostname ?? '';
}
