import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { canary, remember } from '../expect/canaries.ts';
import { type PageRequest, type Pages, pageFor, pageRequest } from './pages.ts';
import { html, json } from './provider-behaviours.ts';
import {
  type Behaviour,
  type Call,
  type ClientRegistration,
  readCall,
  readForm,
  tokenPath,
  userPath,
} from './strict-calls.ts';

export type { Behaviour, Call, ClientRegistration } from './strict-calls.ts';

/**
 * An identity provider that refuses every deviation from the specification, and records it. A test that
 * uses it fails on any recorded violation.
 */
export class StrictProvider {
  /** The answer to a valid token call. The default issues a token for each code, once. */
  onToken: Behaviour;
  /** The answer to a valid user call. The default accepts every token. */
  onUser: Behaviour;
  /** The answer to a well-formed refresh or revocation. The default refuses all. */
  onRefresh: Behaviour = json({ error: 'invalid_grant' }, 400);
  onRevocation: Behaviour = json({ error: 'invalid_request' }, 400);
  /** Closes a connection that has been idle for so many milliseconds; never by default. */
  closeIdleAfter: number | undefined;
  /** The pages in addition to its endpoints, such as metadata. */
  pages: Pages = {};
  readonly pageRequests: PageRequest[] = [];
  readonly registration: ClientRegistration;
  readonly violations: string[] = [];
  readonly calls: Call[] = [];
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Map<Socket, Connection>();
  readonly #tokens = new Map<string, string>();
  readonly #challenges = new Map<string, string>();
  readonly #arrivals = new EventEmitter();

  /** A provider that does not listen yet: `listener` serves its pages and endpoints. */
  constructor(registration: ClientRegistration, pages: Pages = {}) {
    this.registration = registration;
    this.pages = pages;
    this.onToken = this.issueToken;
    this.onUser = userRecord;
    this.#server = createServer(this.listener);
    // There is no Keep-Alive hint, so the relay notices a closed connection only when it uses it.
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket) => this.#connectionOf(socket));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (!error.code?.startsWith('HPE_')) return socket.destroy();
      this.violations.push(`malformed HTTP: ${error.code}`);
      return socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    });
  }

  static async start(registration: ClientRegistration, host?: string): Promise<StrictProvider> {
    const provider = new StrictProvider(registration);
    await provider.listen(host);
    return provider;
  }

  /** Listens on a free port of 127.0.0.1, or of another address of this machine. */
  async listen(host = '127.0.0.1'): Promise<void> {
    this.#server.listen(0, host);
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get authorizeUrl(): string {
    return `${this.origin}/login/oauth/authorize`;
  }

  get tokenUrl(): string {
    return this.origin + tokenPath;
  }

  get userUrl(): string {
    return this.origin + userPath;
  }

  /** The paths and queries of all requests for pages, in order. */
  get asked(): string[] {
    return this.pageRequests.map(({ url }) => url.pathname + url.search);
  }

  /** The sockets open at this moment. */
  get openSockets(): Socket[] {
    return [...this.#sockets.keys()];
  }

  /** The credentials of every call to the endpoint, in order of arrival. */
  credentials(endpoint: Call['endpoint']): string[] {
    return this.calls.filter((call) => call.endpoint === endpoint).map((call) => call.credential);
  }

  /** The token that was issued for the code, if there was any. */
  tokenFor(code: string): string | undefined {
    return this.#tokens.get(code);
  }

  /**
   * Acts as the authorization endpoint, where a person consents, and a code is issued. It remembers the challenge, so
   * that the code can be spent only with its verifier.
   */
  authorize(authorizationRequest: URL): string {
    const { origin, pathname, searchParams } = authorizationRequest;
    const { clientId, redirectUri } = this.registration;
    if (`${origin}${pathname}` !== this.authorizeUrl) this.violations.push('another endpoint');
    const parameters = readForm(searchParams.toString());
    if (typeof parameters === 'string') throw new Error(`authorization request: ${parameters}`);
    const expected = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri };
    for (const [name, value] of Object.entries(expected)) {
      if (parameters.get(name) !== value) this.violations.push(`authorization with no ${name}`);
    }
    const code = canary('code');
    const challenge = parameters.get('code_challenge');
    if (challenge !== undefined) {
      const method = parameters.get('code_challenge_method');
      if (method !== 'S256') this.violations.push(`code challenge with method ${method}`);
      this.#challenges.set(code, challenge);
    }
    return code;
  }

  /** Resolves once that many calls have arrived since the last `forget`. */
  async arrivals(count: number): Promise<void> {
    while (this.calls.length < count) await once(this.#arrivals, 'call');
  }

  /** Forgets calls and violations, and resets its behaviour. Its pages stay. */
  forget(): void {
    this.onToken = this.issueToken;
    this.onUser = userRecord;
    this.closeIdleAfter = undefined;
    this.calls.length = 0;
    this.pageRequests.length = 0;
    this.violations.length = 0;
  }

  /** Drops every connection and stops listening. */
  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.openSockets) socket.destroy();
    await closed;
  }

  /** Issues a token for a code. A spent code gets GitHub's 200 with `error`. */
  issueToken: Behaviour = (response, call) => {
    const token = this.spend(call.credential);
    if (token === undefined) json({ error: 'bad_verification_code' })(response);
    else json({ access_token: token, token_type: 'bearer', scope: '' })(response);
  };

  /** A new token for the code; undefined if the code was spent before, which is a violation. */
  protected spend(code: string): string | undefined {
    if (this.#tokens.has(code)) {
      this.violations.push('a code was spent twice');
      return undefined;
    }
    const token = canary('token');
    this.#tokens.set(code, token);
    return token;
  }

  /** Serves the pages and endpoints, also behind another server, such as a server with TLS. */
  readonly listener: RequestListener = async (request, response) => {
    const connection = this.#connectionOf(request.socket);
    clearTimeout(connection.timer);
    connection.requests += 1;
    const requestOnConnection = connection.requests;
    response.on('close', () => {
      if (this.closeIdleAfter === undefined) return;
      connection.timer = setTimeout(() => request.socket.destroy(), this.closeIdleAfter);
    });

    const body = await text(request).catch(() => undefined);
    if (body === undefined || this.#servePage(request, body, response)) return;
    const reading = readCall(request, body, this.registration, this.#challenges);
    if (typeof reading === 'string') {
      this.violations.push(reading);
      json({ error: 'invalid_request', reason: reading }, 400)(response);
      return;
    }
    const call = { ...reading, connection: connection.id, requestOnConnection };
    this.calls.push(call);
    remember(call.codeVerifier ?? '');
    this.#arrivals.emit('call');
    const behaviours = {
      token: this.onToken,
      user: this.onUser,
      refresh: this.onRefresh,
      revocation: this.onRevocation,
    };
    behaviours[call.endpoint](response, call);
  };

  /** Answers a request for a page; false if it is none. */
  #servePage(message: IncomingMessage, body: string, response: ServerResponse): boolean {
    const request = pageRequest(message, body);
    const page = pageFor(request, this.pages);
    if (page === undefined && !request.url.pathname.includes('/.well-known/')) return false;
    this.pageRequests.push(request);
    (page ?? html(404, 'Not found'))(response, request);
    return true;
  }

  #connectionOf(socket: Socket) {
    const known = this.#sockets.get(socket);
    if (known !== undefined) return known;
    this.connections += 1;
    const connection: Connection = { id: this.connections, requests: 0 };
    this.#sockets.set(socket, connection);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(connection.timer);
      this.#sockets.delete(socket);
    });
    return connection;
  }
}

interface Connection {
  readonly id: number;
  requests: number;
  timer?: NodeJS.Timeout;
}

/** The record of the token's user. It names the token, to detect a mix-up. */
export const userRecord: Behaviour = (response, call) => {
  json({
    login: `owner-of-${call.credential}`,
    avatar_url: 'https://pictures.example/1',
    name: null,
    html_url: 'https://profiles.example/1',
  })(response);
};
