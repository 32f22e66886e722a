import { type ClientRequest, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Socket } from 'node:net';

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
