import http, { type ClientRequest, Agent as HttpAgent, type RequestOptions } from 'node:http';
import https, { type AgentOptions, Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { type IsDirect, readNoProxy } from './no-proxy.ts';

const idleConnectionLifetime = 60_000;
/** Milliseconds. No server closes an idle connection so soon. */
const briefLifetime = 1_000;
/** The most interim responses (1xx). A server could send them without end, and each costs as much as a final one. */
const mostInterim = 100;

/** `HTTPS_PROXY`, and `NO_PROXY` with the hosts that are called directly. */
export type ProxyEnvironment = Readonly<Record<string, string>>;

export type ConnectionPool = ReturnType<typeof createConnectionPool>;

/**
 * Creates the connections to a provider, or to the servers behind the gateway.
 *
 * @param size the most connections to each host of the provider
 * @param lookup resolves host names. These hosts get no keep-alive connections
 */
export function createConnectionPool(size: number, proxy: ProxyEnvironment, lookup?: LookupFunction) {
  const { HTTPS_PROXY: proxyUrl, NO_PROXY: noProxy = '' } = proxy;
  const isDirect = readNoProxy(noProxy);
  const common = lookup ? { lookup } : {};
  const httpsAgent = (options: AgentOptions) =>
    proxyUrl === undefined ? new HttpsAgent(options) : new TunnelAgent(options, proxyUrl, isDirect);
  const kept = { keepAlive: true, maxSockets: size, timeout: idleConnectionLifetime, ...common };
  const unpooled = { http: new HttpAgent(common), https: httpsAgent(common) };
  // Anybody can name the hosts of a lookup, so keeping their connections would have no limit.
  const pooled = lookup ? unpooled : { http: new HttpAgent(kept), https: httpsAgent(kept) };
  const briefly = { ...kept, timeout: briefLifetime };
  const brief = { http: new HttpAgent(briefly), https: httpsAgent(briefly) };
  const all = [pooled, brief, unpooled];
  let closed = false;
  return {
    pooled,
    unpooled,
    /** Kept for a moment only: a request that cannot be repeated must not meet a connection that died while idle. */
    brief,
    /**
     * Whether a request failed because its keep-alive connection was reset before the first byte of a response. The
     * provider had closed the connection and never got the request, so it can be repeated.
     *
     * @param code the error code
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
     * Resolves once the bytes that have arrived on idle connections are read, so that Node.js closes a connection with
     * unsolicited bytes. Otherwise, a busy event loop would reuse it, and take the bytes for the response: another
     * person's record.
     */
    async settled(): Promise<void> {
      const idle = all.some(({ http, https }) => [http, https].some((agent) => Object.keys(agent.freeSockets).length));
      if (!idle) return;
      // The first runs after the current events, the second after one more poll for new ones.
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

/** Opens connections through a proxy, except to hosts in `NO_PROXY`, which Node.js itself reads too narrowly. */
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

export interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/**
 * Opens a request with only the options that the relay sets. got would pass forty options, which Node.js copies and
 * compares several times for each call.
 */
export function openRequest(url: URL, { method, headers, agent, maxHeaderSize }: RequestOptions): ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  const sent = request({ ...urlToHttpOptions(url), method, headers, agent, maxHeaderSize });
  let interim = 0;
  sent.on('information', () => {
    interim += 1;
    if (interim > mostInterim) sent.destroy(Object.assign(new Error(), { code: 'TOO_MANY_INTERIM_RESPONSES' }));
  });
  return sent;
}

/**
 * Calls back before the first byte of a request is written, when its connection is ready: with TLS, after the handshake
 * and the check of the certificate.
 */
export function onceSending(request: ClientRequest, callback: (socket: Socket) => void): void {
  const watch = (socket: Socket) => {
    const isTls = socket instanceof TLSSocket;
    const isReady = isTls ? socket.authorized : !socket.connecting;
    if (isReady) callback(socket);
    else socket.once(isTls ? 'secureConnect' : 'connect', () => callback(socket));
  };
  if (request.socket) watch(request.socket);
  else request.once('socket', watch);
}
