import http, { type ClientRequest, Agent as HttpAgent, type RequestOptions } from 'node:http';
import https, { Agent as HttpsAgent } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { urlToHttpOptions } from 'node:url';

const idleConnectionLifetime = 60_000;

/** `HTTPS_PROXY`, and `NO_PROXY` with the hosts that are called directly. */
export type ProxyEnvironment = Readonly<Record<string, string>>;

/** Keep-alive connections to the provider. */
export type ConnectionPool = ReturnType<typeof createConnectionPool>;

/** @param size the most connections to each of the provider's hosts */
export function createConnectionPool(size: number, proxy: ProxyEnvironment) {
  const proxyEnv = Object.keys(proxy).length > 0 ? proxy : undefined;
  const kept = { keepAlive: true, maxSockets: size, timeout: idleConnectionLifetime, proxyEnv };
  const pooled = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };
  const unpooled = { http: new HttpAgent({ proxyEnv }), https: new HttpsAgent({ proxyEnv }) };
  let closed = false;
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
    /** Opens a new connection for every request and closes it afterwards. */
    unpooled,
    /**
     * Whether a request failed because its keep-alive connection was reset before the first byte of a
     * response. The provider had closed the connection, so it never took the request: retry it.
     *
     * @see RFC 9112 §9.3.1
     */
    diedWhileIdle(request: ClientRequest, error: unknown): boolean {
      // close() destroys connections in use. The provider may have read their requests.
      if (closed) return false;
      const reuse = reuses.get(request);
      return reuse !== undefined && isReset(error) && reuse.socket.bytesRead === reuse.bytesRead;
    },
    /** Whether a request was sent on a keep-alive connection. */
    reused: (request: ClientRequest): boolean => reuses.has(request),
    /**
     * Resolves once the bytes that have arrived on idle connections are read. Node closes a connection
     * that sends unsolicited bytes. A busy event loop would reuse it first and take the bytes for the
     * response.
     */
    async settled(): Promise<void> {
      const idle = [pooled.http, pooled.https].some(
        (agent) => Object.keys(agent.freeSockets).length,
      );
      if (!idle) return;
      // The first runs after the current events, the second after one more poll for new ones.
      await setImmediate();
      await setImmediate();
    },
    close(): void {
      closed = true;
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

/**
 * Opens a request for got with only the options that the relay sets. Left to itself, got passes forty
 * options, and Node copies and compares each of them several times a call.
 */
export function openRequest(
  url: URL,
  { method, headers, agent }: Pick<RequestOptions, 'method' | 'headers' | 'agent'>,
): ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  return request({ ...urlToHttpOptions(url), method, headers, agent });
}

/**
 * Calls back before the first byte of a request is written. That is when its connection is ready: with
 * TLS, after the handshake and the check of the certificate.
 */
export function onceSending(request: ClientRequest, callback: () => void): void {
  const watch = (socket: Duplex) => {
    if (isReady(socket)) callback();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', callback);
  };
  if (request.socket) watch(request.socket);
  else request.once('socket', watch);
}

function isReady(socket: Duplex): boolean {
  if (socket instanceof TLSSocket) return socket.authorized;
  return !(socket instanceof Socket && socket.connecting);
}
