import type { RequestListener } from 'node:http';
import { isIP } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import { ListenError } from '../failures/start-errors.ts';
import { limits } from '../limits.ts';
import { type ListeningServer, listen, noObserver, type Port } from '../server/server.ts';
import { hostInUrl } from '../urls.ts';
import { createOccasionalWarning } from './occasional-warnings.ts';
import type { Metrics } from './request-metrics.ts';

// Few programs read metrics.
const serverLimits = { ...limits, connections: 64 };
type ServedMetrics = Pick<Metrics, 'contentType' | 'text'>;

/**
 * Opens the port that answers `GET /metrics`.
 *
 * @returns undefined if there are no metrics, or no port for them is configured
 * @throws {ListenError} if the port cannot be opened
 */
export async function openMetricsPort(
  metrics: ServedMetrics | undefined,
  where: MetricsPort | undefined,
  logger: Pick<Logger, 'warn'>,
): Promise<ListeningServer | undefined> {
  if (metrics === undefined || where === undefined) return undefined;
  try {
    return await listen(createMetricsListener(metrics, where, logger), where, serverLimits, noObserver);
  } catch (error) {
    throw error instanceof ListenError ? new ListenError(`metrics: ${error.message}`) : error;
  }
}

/** The port of the metrics, with the names under which it may be asked. */
export interface MetricsPort extends Port {
  readonly names: readonly string[];
}

/**
 * Names that nobody can register, such as those of containers and services: a single label, or a name below a domain
 * for private use (ICANN reserves `internal`). A single label with a final dot is a top-level domain.
 *
 * @see RFC 6761, RFC 6762
 */
const privateName = /^[^.]+$|\.(?:internal|local|localhost|svc)\.?$/;

/**
 * Creates the listener of the port. It answers under its own address, `localhost`, the configured names and, unless it
 * only listens on the loopback address, names that nobody can register. Any other `Host` gets 421.
 */
export function createMetricsListener(
  metrics: ServedMetrics,
  where: MetricsPort,
  logger: Pick<Logger, 'warn'>,
): RequestListener {
  const configured = hostOfAddress(where.host);
  const names = new Set(['localhost', configured, ...where.names.map(parseHost)]);
  const isEveryAddress = configured === '0.0.0.0' || configured === '[::]';
  const warn = createOccasionalWarning(logger, 'metrics asked under another host name');
  // Against DNS rebinding. An attacker can point a name of their own to this port, and pages under that name could then
  // read the metrics.
  const isAllowedHost = (host: string, address = '') => {
    if (names.has(host) || host === hostOfAddress(address)) return true;
    // It may be a translated address, such as a published port of a container. DNS rebinding needs a name.
    const isAddress = isIP(host.replace(/^\[(.*)\]$/, '$1')) > 0;
    if (isAddress) return isEveryAddress;
    return privateName.test(host) && (isEveryAddress || !isLoopbackAddress(address));
  };

  let pendingText: Promise<string> | undefined;
  /**
   * Reads the metrics once for all requests of a turn. Otherwise, 64 connections that keep asking would take half of
   * the CPU.
   */
  function readTextOncePerTurn(): Promise<string> {
    pendingText ??= nextTurn().then(() => {
      pendingText = undefined;
      return metrics.text();
    });
    return pendingText;
  }

  return async (request, response) => {
    const host = parseHost(request.headers.host ?? '');
    if (!isAllowedHost(host, request.socket.localAddress)) {
      const loggedHost = host.length <= 253 ? host : '';
      warn(loggedHost, { host: loggedHost });
      response.writeHead(421, { 'Content-Type': 'text/plain' });
      response.end('Ask for the address of this port, for localhost, or for a name in --metrics-names.\n');
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    const text = await readTextOncePerTurn();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  };
}

/** Returns an IP address or a name as the host of a URL. */
function hostOfAddress(address: string): string {
  return parseHost(hostInUrl(address));
}

function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** Parses a host, with or without a port, as browsers write it. @returns an empty text if the text is no host */
function parseHost(text: string): string {
  return URL.parse(`http://${text}`)?.hostname ?? '';
}
