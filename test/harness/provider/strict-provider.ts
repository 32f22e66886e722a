import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { canary } from '../expect/canaries.ts';
import { json } from './provider-behaviours.ts';

/** What the provider knows about its one client, and how that client must authenticate. */
export interface ClientRegistration {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  tokenRequest: 'query' | 'body' | 'basic' | 'basic-raw';
  /** Parameters that the token request must carry besides the protocol's. */
  tokenParameters?: Readonly<Record<string, string>>;
}

/** A call that followed the specification to the letter. */
export interface Call {
  endpoint: 'token' | 'user';
  /** Which connection it came on, counted from 1. */
  connection: number;
  /** Which request on that connection it is, counted from 1: more than 1 means a reused one. */
  requestOnConnection: number;
  /** The authorization code of a token call; the access token of a user call. */
  credential: string;
  /** The PKCE verifier of a token call; it fits the challenge of the code, or there is no call. */
  codeVerifier?: string;
}

/** Decides what a call gets: an answer, a fault, or nothing at all. */
export type Behaviour = (response: ServerResponse, call: Call) => void;

/**
 * An identity provider that refuses whatever the specification does not say, and remembers it:
 * a test that uses it fails on any recorded violation.
 */
export class StrictProvider {
  /** What a well-formed token call gets; the default issues a token for each code, once. */
  onToken: Behaviour;
  /** What a well-formed user call gets; the default knows every token. */
  onUser: Behaviour;
  /** Closes a connection that has been idle for so many milliseconds; never by default. */
  closeIdleAfter: number | undefined;
  readonly registration: ClientRegistration;
  readonly violations: string[] = [];
  readonly calls: Call[] = [];
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Map<Socket, { id: number; requests: number; timer?: NodeJS.Timeout }>();
  readonly #tokens = new Map<string, string>();
  readonly #challenges = new Map<string, string>();
  readonly #watchers = new Set<() => void>();

  private constructor(registration: ClientRegistration) {
    this.registration = registration;
    this.onToken = this.issueToken;
    this.onUser = userRecord;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    // No Keep-Alive hint: the relay learns that a connection is gone by using it.
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket) => {
      this.connections += 1;
      this.#sockets.set(socket, { id: this.connections, requests: 0 });
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(this.#sockets.get(socket)?.timer);
        this.#sockets.delete(socket);
      });
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (error.code?.startsWith('HPE_')) this.violations.push(`malformed HTTP: ${error.code}`);
      socket.destroy();
    });
  }

  /** Listens on a free port of 127.0.0.1, or of another address of this machine. */
  static async start(
    registration: ClientRegistration,
    host = '127.0.0.1',
  ): Promise<StrictProvider> {
    const provider = new StrictProvider(registration);
    provider.#server.listen(0, host);
    await once(provider.#server, 'listening');
    return provider;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get authorizeUrl(): string {
    return `http://127.0.0.1:${this.port}/login/oauth/authorize`;
  }

  get tokenUrl(): string {
    return `http://127.0.0.1:${this.port}${tokenPath}`;
  }

  get userUrl(): string {
    return `http://127.0.0.1:${this.port}${userPath}`;
  }

  /** The sockets open at this moment. */
  get openSockets(): Socket[] {
    return [...this.#sockets.keys()];
  }

  /** The credentials of every call to the endpoint, in order of arrival. */
  credentials(endpoint: Call['endpoint']): string[] {
    return this.calls.filter((call) => call.endpoint === endpoint).map((call) => call.credential);
  }

  /** The token that was issued for the code, if one was. */
  tokenFor(code: string): string | undefined {
    return this.#tokens.get(code);
  }

  /**
   * Plays the authorization endpoint: someone consents, and a code is issued. A challenge is
   * remembered, so that the code can be spent with its verifier alone.
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
    if (this.calls.length >= count) return;
    await new Promise<void>((resolve) => {
      const watcher = () => {
        if (this.calls.length < count) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  /** Forgets calls and violations and behaves well again. */
  forget(): void {
    this.onToken = this.issueToken;
    this.onUser = userRecord;
    this.closeIdleAfter = undefined;
    this.calls.length = 0;
    this.violations.length = 0;
  }

  /** Drops every connection and stops listening. */
  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.openSockets) socket.destroy();
    await closed;
  }

  /** Issues a token for a code; a code that was spent before gets GitHub's 200 with `error`. */
  readonly issueToken: Behaviour = (response, call) => {
    if (this.#tokens.has(call.credential)) {
      this.violations.push('a code was spent twice');
      json({ error: 'bad_verification_code' })(response, call);
      return;
    }
    const token = canary('token');
    this.#tokens.set(call.credential, token);
    json({ access_token: token, token_type: 'bearer', scope: '' })(response, call);
  };

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = this.#sockets.get(request.socket);
    if (!connection) return;
    clearTimeout(connection.timer);
    connection.requests += 1;
    const requestOnConnection = connection.requests;
    response.on('close', () => {
      if (this.closeIdleAfter === undefined) return;
      connection.timer = setTimeout(() => request.socket.destroy(), this.closeIdleAfter);
    });

    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString();
    const reading = read(request, body, this.registration, this.#challenges);
    if (typeof reading === 'string') {
      this.violations.push(reading);
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ error: 'invalid_request', reason: reading }));
      return;
    }
    const call = { ...reading, connection: connection.id, requestOnConnection };
    this.calls.push(call);
    for (const watcher of this.#watchers) watcher();
    (call.endpoint === 'token' ? this.onToken : this.onUser)(response, call);
  }
}

/** The record of whoever holds the token; it names the token, so that a mix-up shows. */
export const userRecord: Behaviour = (response, call) => {
  json({
    login: `owner-of-${call.credential}`,
    avatar_url: 'https://pictures.example/1',
    name: null,
    html_url: 'https://profiles.example/1',
  })(response, call);
};

const tokenPath = '/login/oauth/access_token';
const userPath = '/user';

/** What a call says for itself. */
type Reading = Pick<Call, 'endpoint' | 'credential' | 'codeVerifier'>;

/** The call's endpoint and credential, or the sentence that says what is wrong with it. */
function read(
  request: IncomingMessage,
  body: string,
  registration: ClientRegistration,
  challenges: ReadonlyMap<string, string>,
): Reading | string {
  const [path, ...query] = (request.url ?? '').split('?');
  const repeated = repeatedHeader(request.rawHeaders);
  if (repeated) return `header ${repeated} is repeated`;
  for (const name of Object.keys(request.headers)) {
    if (strangeHeaders.test(name)) return `header ${name} is none of the provider's business`;
  }
  if (!request.headers['user-agent']) return 'User-Agent is missing';
  if (path === tokenPath)
    return readTokenCall(request, query.join('?'), body, registration, challenges);
  if (path === userPath) return readUserCall(request, query.join('?'), body);
  return `no such path: ${path}`;
}

const strangeHeaders = /^(cookie|origin|referer|forwarded|x-forwarded-.*|x-real-ip|sec-.*|expect)$/;

/** @see RFC 7636 §4.1 */
const codeVerifierForm = /^[\w.~-]{43,128}$/;

function readTokenCall(
  request: IncomingMessage,
  query: string,
  body: string,
  registration: ClientRegistration,
  challenges: ReadonlyMap<string, string>,
): Reading | string {
  const { clientId, clientSecret, redirectUri, tokenRequest, tokenParameters = {} } = registration;
  const isBasic = tokenRequest === 'basic' || tokenRequest === 'basic-raw';
  if (request.method !== 'POST') return `token call with method ${request.method}`;
  if (request.headers.accept !== 'application/json') {
    return `token call with Accept: ${request.headers.accept}`;
  }
  const expected = new Map([...Object.entries(tokenParameters), ['redirect_uri', redirectUri]]);
  if (!isBasic) {
    expected.set('client_id', clientId).set('client_secret', clientSecret);
  }
  if (tokenRequest !== 'query') expected.set('grant_type', 'authorization_code');

  const form = readForm(tokenRequest === 'query' ? query : body);
  if (typeof form === 'string') return `token call: ${form}`;
  const code = form.get('code');
  if (code === undefined || code === '') return 'token call without code';
  form.delete('code');
  for (const [name, value] of expected) {
    if (!form.has(name)) return `token call without ${name}`;
    if (form.get(name) !== value) return `token call with another ${name}`;
    form.delete(name);
  }
  const codeVerifier = form.get('code_verifier');
  const challenge = challenges.get(code);
  if (challenge !== undefined) {
    if (codeVerifier === undefined) return 'token call without code_verifier';
    if (!codeVerifierForm.test(codeVerifier)) return 'token call with a malformed code_verifier';
    if (hash('sha256', codeVerifier, 'base64url') !== challenge) {
      return 'token call with another code_verifier';
    }
    form.delete('code_verifier');
  }
  if (form.size > 0) return `token call with extra parameters: ${[...form.keys()].join(', ')}`;

  if (tokenRequest === 'query') {
    if (body !== '') return 'token call with a body';
    if ((request.headers['content-length'] ?? '0') !== '0') return 'token call announces a body';
    if (request.headers['transfer-encoding']) return 'token call announces a body';
  } else {
    if (query !== '') return 'token call with a query';
    const type = request.headers['content-type']?.split(';')[0];
    if (type !== 'application/x-www-form-urlencoded') return `token call with a body of ${type}`;
  }
  const { authorization } = request.headers;
  if (!isBasic && authorization !== undefined) return 'token call authorizes itself';
  const raw = readBasic(authorization);
  const credentials = tokenRequest === 'basic' ? raw?.split(':').map(formDecode) : [raw];
  if (isBasic && credentials?.join(':') !== `${clientId}:${clientSecret}`) {
    return 'token call with a wrong Authorization';
  }
  return { endpoint: 'token', credential: code, ...(codeVerifier && { codeVerifier }) };
}

function readUserCall(request: IncomingMessage, query: string, body: string): Reading | string {
  if (request.method !== 'GET') return `user call with method ${request.method}`;
  if (query !== '') return 'user call with a query';
  if (body !== '' || request.headers['content-length'] || request.headers['transfer-encoding']) {
    return 'user call with a body';
  }
  const token = /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return 'user call with a wrong bearer header';
  return { endpoint: 'user', credential: token };
}

/** The credentials of the header as they were sent. */
function readBasic(authorization = ''): string | undefined {
  const credentials = /^Basic ([\w+/]+=*)$/.exec(authorization)?.[1];
  return credentials && Buffer.from(credentials, 'base64').toString();
}

/** Parameters by name, or what is wrong: each may come once, decoded without guessing. */
function readForm(text: string): Map<string, string> | string {
  const form = new Map<string, string>();
  if (text === '') return form;
  for (const pair of text.split('&')) {
    const [name = '', ...value] = pair.split('=');
    try {
      const decodedName = formDecode(name);
      if (form.has(decodedName)) return `${decodedName} is repeated`;
      form.set(decodedName, formDecode(value.join('=')));
    } catch {
      return `${name} is not valid percent-encoding`;
    }
  }
  return form;
}

function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function repeatedHeader(rawHeaders: string[]): string | undefined {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return names.find((name, index) => names.indexOf(name) !== index);
}
