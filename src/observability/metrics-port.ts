import type { RequestListener } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
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
  where: MetricsPort | undefined,
  logger: Pick<Logger, 'warn'>,
): Promise<ListeningServer | undefined> {
  if (metrics === undefined || where === undefined) return undefined;
  try {
    return await listen(metricsListener(metrics, where, logger), where, serverLimits, noObserver);
  } catch (error) {
    throw error instanceof ListenError ? new ListenError(`metrics: ${error.message}`) : error;
  }
}

export interface MetricsPort extends Port {
  readonly names: readonly string[];
}

/**
 * Names that nobody can register, such as those of containers and services: one label, or below a domain for private
 * use (ICANN reserves `internal`). A single label with a final dot is a top-level domain.
 *
 * @see RFC 6761, RFC 6762
 */
const privateName = /^[^.]+$|\.(?:internal|local|localhost|svc)\.?$/;

/**
 * Answers under its own address, `localhost`, the configured names and, unless it only listens on the loopback address,
 * names that nobody can register. Any other `Host` gets 421.
 */
export function metricsListener(
  metrics: ServedMetrics,
  where: MetricsPort,
  logger: Pick<Logger, 'warn'>,
): RequestListener {
  const configured = addressHost(where.host);
  const names = new Set(['localhost', configured, ...where.names.map(hostOf)]);
  const isEveryAddress = configured === '0.0.0.0' || configured === '[::]';
  const warn = occasionalWarning(logger, 'metrics asked under another host name');
  // Against DNS rebinding: an attacker can point a name of their own here, and pages under that name could then read
  // the metrics.
  const mayAsk = (host: string, address = '') => {
    if (names.has(host) || host === addressHost(address)) return true;
    // A translated address, such as a published port of a container. DNS rebinding needs a name.
    if (isIP(host.replace(/^\[(.*)\]$/, '$1')) > 0) return isEveryAddress;
    return privateName.test(host) && (isEveryAddress || !isLoopbackAddress(address));
  };

  let coming: Promise<string> | undefined;
  /**
   * The text, written once for everybody who asks at the same time: 64 connections that keep asking would take half of
   * the CPU.
   */
  function textOfTurn(): Promise<string> {
    coming ??= nextTurn().then(() => {
      coming = undefined;
      return metrics.text();
    });
    return coming;
  }

  return async (request, response) => {
    const host = hostOf(request.headers.host ?? '');
    if (!mayAsk(host, request.socket.localAddress)) {
      const logged = host.length <= 253 ? host : '';
      warn(logged, { host: logged });
      response.writeHead(421, { 'Content-Type': 'text/plain' });
      response.end('Ask for the address of this port, for localhost, or for a name in --metrics-names.\n');
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    const text = await textOfTurn();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  };
}

/** An IP address or a name as the host of a URL. */
function addressHost(address: string): string {
  return hostOf(isIPv6(address) ? `[${address}]` : address);
}

function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** A host without its port, as browsers write it; empty if it is not a host. */
function hostOf(text: string): string {
  return URL.parse(`http://${text}`)?.hostname ?? '';
}
