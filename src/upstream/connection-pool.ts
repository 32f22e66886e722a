import { type ClientRequest, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

const idleConnectionLifetime = 60_000;

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** `HTTPS_PROXY`, and in `NO_PROXY` the hosts that are called without it. */
export type ProxyEnvironment = Readonly<Record<string, string>>;

/** Keep-alive connections to the provider, and what is known of those that were reused. */
export interface ConnectionPool {
  readonly pooled: Agents;
  /** Opens a new connection for every request, and closes it after. */
  readonly unpooled: Agents;
  /**
   * Whether a request failed because its kept connection was reset before one byte of an answer:
   * the provider had closed it, so the request was never taken and can be made again.
   *
   * @see RFC 9112 §9.3.1
   */
  diedWhileIdle(request: ClientRequest, error: unknown): boolean;
  /** Whether a request went out on a kept connection. */
  reused(request: ClientRequest): boolean;
  /**
   * Resolves once whatever has arrived on idle connections is read: Node drops a connection that
   * speaks unasked, but a busy loop would take it first, and what it said for an answer.
   */
  settled(): Promise<void>;
  close(): void;
}

/** @param size connections that may be open at a time, to each of the provider's hosts */
export function createConnectionPool(size: number, proxy: ProxyEnvironment): ConnectionPool {
  const proxyEnv = Object.keys(proxy).length > 0 ? proxy : undefined;
  const kept = { keepAlive: true, maxSockets: size, timeout: idleConnectionLifetime, proxyEnv };
  const pooled = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };
  const unpooled = { http: new HttpAgent({ proxyEnv }), https: new HttpsAgent({ proxyEnv }) };
  const reuses = new WeakMap<ClientRequest, { socket: Socket; bytesRead: number }>();
  for (const agent of [pooled.http, pooled.https]) {
    const reuseSocket = agent.reuseSocket.bind(agent);
    agent.reuseSocket = (socket, request) => {
      reuseSocket(socket, request);
      if (socket instanceof Socket) reuses.set(request, { socket, bytesRead: socket.bytesRead });
    };
  }
  return {
    pooled,
    unpooled,
    diedWhileIdle(request, error) {
      const reuse = reuses.get(request);
      return reuse !== undefined && isReset(error) && reuse.socket.bytesRead === reuse.bytesRead;
    },
    reused: (request) => reuses.has(request),
    async settled() {
      const idle = [pooled.http, pooled.https].some(
        (agent) => Object.keys(agent.freeSockets).length,
      );
      if (!idle) return;
      // The first comes after the events at hand, the second after those that had yet to be fetched.
      await setImmediate();
      await setImmediate();
    },
    close() {
      for (const agents of [pooled, unpooled]) {
        agents.http.destroy();
        agents.https.destroy();
      }
    },
  };
}

function isReset(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ECONNRESET' || error.code === 'EPIPE')
  );
}
