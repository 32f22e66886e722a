import http, { type ClientRequest, Agent as HttpAgent, type RequestOptions } from 'node:http';
import https, { type AgentOptions, Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { type IsDirect, readNoProxy } from './no-proxy.ts';

const idleConnectionLifetime = 60_000;
/** Milliseconds. No server closes an idle connection so soon. */
const briefLifetime = 1_000;
/** A server could send interim responses (1xx) without end, and each costs as much as a final one. */
const mostInterimResponses = 100;

/** `HTTPS_PROXY`, and `NO_PROXY` with the hosts that are called directly. */
export type ProxyEnvironment = Readonly<Record<string, string>>;

export type ConnectionPool = ReturnType<typeof createConnectionPool>;

/**
 * Creates the connections to a provider, or to the servers behind the gateway.
 *
 * @param size the most connections to each host of the provider
 * @param lookup resolves the host names that strangers choose. Connections to their hosts are not kept, because nothing
 *   limits how many hosts there are
 */
export function createConnectionPool(size: number, proxy: ProxyEnvironment, lookup?: LookupFunction) {
  const { HTTPS_PROXY: proxyUrl, NO_PROXY: noProxy = '' } = proxy;
  const isDirect = readNoProxy(noProxy);
  const createAgents = (options: AgentOptions): Agents => ({
    http: new HttpAgent(options),
    https: proxyUrl === undefined ? new HttpsAgent(options) : new TunnelAgent(options, proxyUrl, isDirect),
  });
  const lookupOption = lookup ? { lookup } : {};
  const keepAlive = { keepAlive: true, maxSockets: size, ...lookupOption };
  const unpooled = createAgents(lookupOption);
  const pooled = lookup ? unpooled : createAgents({ ...keepAlive, timeout: idleConnectionLifetime });
  const brief = lookup ? unpooled : createAgents({ ...keepAlive, timeout: briefLifetime });
  const all = [pooled, brief, unpooled];
  let closed = false;
  return {
    /** For requests that can be repeated. */
    pooled,
    /** A new connection for each request. */
    unpooled,
    /** Kept only for a moment, because a request that cannot be repeated must not meet a connection that died idle. */
    brief,
    /**
     * Whether a request failed because its keep-alive connection was reset before the first byte of a response. Then
     * the provider had closed the connection and never got the request, so it can be repeated.
     *
     * @param code the code of the request's error
     * @param bytesBefore the bytes that the connection had received before the request
     * @see RFC 9112 §9.3.1
     */
    diedWhileIdle(request: ClientRequest, code: string, bytesBefore: number): boolean {
      // close() destroys connections in use, and the provider may have read their requests.
      if (closed || !request.reusedSocket) return false;
      const isReset = code === 'ECONNRESET' || code === 'EPIPE';
      return isReset && request.socket?.bytesRead === bytesBefore;
    },
    /**
     * Waits until Node.js has read what arrived on idle connections, and closed those with unsolicited bytes.
     * Otherwise, a busy event loop would reuse such a connection, and take the bytes for the response. They may be
     * another person's record.
     */
    async dropPoisonedConnections(): Promise<void> {
      const hasIdle = ({ freeSockets }: HttpAgent | HttpsAgent) => Object.keys(freeSockets).length > 0;
      if (!all.some(({ http, https }) => hasIdle(http) || hasIdle(https))) return;
      // The first one may resolve before Node.js looks for new bytes. The second one resolves after it has looked.
      await setImmediate();
      await setImmediate();
    },
    close(): void {
      closed = true;
      for (const agents of all) {
        agents.http.destroy();
        agents.https.destroy();
      }
    },
  };
}

/** Opens connections through a proxy, except to hosts in `NO_PROXY`, of which Node.js itself knows too few forms. */
class TunnelAgent extends HttpsAgent {
  readonly #direct: HttpsAgent;
  readonly #isDirect: IsDirect;

  constructor(options: AgentOptions, proxyUrl: string, isDirect: IsDirect) {
    super({ ...options, proxyEnv: { HTTPS_PROXY: proxyUrl } });
    this.#direct = new HttpsAgent(options);
    this.#isDirect = isDirect;
  }

  override createConnection(options: RequestOptions, callback?: (error: Error | null, stream: Duplex) => void) {
    const isDirect = this.#isDirect(options.host ?? '', Number(options.port));
    return isDirect ? this.#direct.createConnection(options, callback) : super.createConnection(options, callback);
  }
}

/** The agents of Node.js for both schemes. */
export interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/**
 * Opens a request with only the options that the relay sets. got would pass forty options, and Node.js would copy and
 * compare them several times for each call.
 */
export function openRequest(url: URL, { method, headers, agent, maxHeaderSize }: RequestOptions): ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  const target = urlToHttpOptions(url);
  // Otherwise, Node.js would take the name from the header `Host`, which may be that of a browser's request, and would
  // not accept the server's own certificate. An IP address cannot be such a name. @see RFC 9110 §4.3.4, RFC 6066 §3
  const host = target.hostname ?? '';
  const servername = isIP(host) === 0 ? host : '';
  const sent = request({ ...target, servername, method, headers, agent, maxHeaderSize });
  let interimResponses = 0;
  sent.on('information', () => {
    interimResponses += 1;
    if (interimResponses <= mostInterimResponses) return;
    sent.destroy(Object.assign(new Error(), { code: 'TOO_MANY_INTERIM_RESPONSES' }));
  });
  return sent;
}

/**
 * Calls back when the connection of a request is ready, and before the first byte is written. With TLS, this is after
 * the handshake and the check of the certificate.
 */
export function onceConnectionReady(request: ClientRequest, callback: (socket: Socket) => void): void {
  const onceReady = (socket: Socket) => {
    const isTls = socket instanceof TLSSocket;
    const isReady = isTls ? socket.authorized : !socket.connecting;
    if (isReady) callback(socket);
    else socket.once(isTls ? 'secureConnect' : 'connect', () => callback(socket));
  };
  if (request.socket) onceReady(request.socket);
  else request.once('socket', onceReady);
}
