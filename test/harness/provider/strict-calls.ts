import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export const tokenPath = '/login/oauth/access_token';
export const userPath = '/user';
export const revocationPath = '/revoke';

/** The only client of the provider, and how it must authenticate. */
export interface ClientRegistration {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  tokenRequest: 'query' | 'body' | 'basic' | 'basic-raw';
  /** Parameters that the token request must have in addition to the protocol's. */
  tokenParams?: Readonly<Record<string, string>>;
  /** Whether the provider takes refresh tokens, and revokes tokens. */
  refreshTokens?: boolean;
}

/** A call without a violation of the specification. */
export interface Call {
  endpoint: 'token' | 'user' | 'refresh' | 'revocation';
  /** The number of its connection, from 1. */
  connection: number;
  /** Its number on that connection, from 1. A number above 1 means that the connection was reused. */
  requestOnConnection: number;
  /** The authorization code of a token call; the access token of a user call; the token of another. */
  credential: string;
  /** The PKCE verifier of a token call. It matches the challenge of the code; otherwise the call is a violation. */
  codeVerifier?: string;
  /** The scope of a refresh. */
  scope?: string;
}

/** Answers a call, causes a fault, or does nothing. */
export type Behaviour = (response: ServerResponse, call: Call) => void;

/** A call as received. */
type Reading = Omit<Call, 'connection' | 'requestOnConnection'>;

/** The request from which a call is read. */
interface Received {
  readonly request: IncomingMessage;
  readonly query: string;
  readonly body: string;
  readonly registration: ClientRegistration;
  readonly challenges: ReadonlyMap<string, string>;
}

/** The call's endpoint and credential, or a sentence about its fault. */
export function readCall(
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
  const received = { request, query: query.join('?'), body, registration, challenges };
  if (registration.refreshTokens && path === revocationPath) {
    return readClientCall(received, revocation);
  }
  if (registration.refreshTokens && /(^|&)grant_type=refresh_token(&|$)/.test(body)) {
    return readClientCall(received, refresh);
  }
  if (path === tokenPath) return readTokenCall(received);
  if (path === userPath) return readUserCall(received);
  return `no such path: ${path}`;
}

const strangeHeaders = /^(cookie|origin|referer|forwarded|x-forwarded-.*|x-real-ip|sec-.*|expect)$/;

/** @see RFC 7636 §4.1 */
const codeVerifierForm = /^[\w.~-]{43,128}$/;

/** The content of a kind of call, except for the client's credentials. */
interface Kind {
  readonly endpoint: Call['endpoint'];
  /** The parameter that the call is about. */
  readonly subject: string;
  readonly expected: Readonly<Record<string, string>>;
  readonly optional: readonly string[];
}

const refresh: Kind = {
  endpoint: 'refresh',
  subject: 'refresh_token',
  expected: { grant_type: 'refresh_token' },
  optional: ['scope'],
};
const revocation: Kind = {
  endpoint: 'revocation',
  subject: 'token',
  expected: {},
  optional: ['token_type_hint'],
};

function readTokenCall(received: Received): Reading | string {
  const { redirectUri, tokenRequest, tokenParams = {} } = received.registration;
  const isQuery = tokenRequest === 'query';
  const exchange: Kind = {
    endpoint: 'token',
    subject: 'code',
    expected: {
      ...tokenParams,
      redirect_uri: redirectUri,
      ...(!isQuery && { grant_type: 'authorization_code' }),
    },
    optional: [],
  };
  const { accept } = received.request.headers;
  if (accept !== 'application/json') return `token call with Accept: ${accept}`;
  return readClientCall(received, exchange);
}

function readClientCall(
  { request, query, body, registration, challenges }: Received,
  { endpoint, subject, expected: ofKind, optional }: Kind,
): Reading | string {
  const { clientId, clientSecret, tokenRequest } = registration;
  const isBasic = tokenRequest === 'basic' || tokenRequest === 'basic-raw';
  if (request.method !== 'POST') return `${endpoint} call with method ${request.method}`;
  const expected = new Map(Object.entries(ofKind));
  if (!isBasic) {
    expected.set('client_id', clientId).set('client_secret', clientSecret);
  }

  const form = readForm(tokenRequest === 'query' ? query : body);
  if (typeof form === 'string') return `${endpoint} call: ${form}`;
  const credential = form.get(subject);
  if (credential === undefined || credential === '') return `${endpoint} call without ${subject}`;
  form.delete(subject);
  for (const [name, value] of expected) {
    if (!form.has(name)) return `${endpoint} call without ${name}`;
    if (form.get(name) !== value) return `${endpoint} call with another ${name}`;
    form.delete(name);
  }
  const scope = form.get('scope');
  for (const name of optional) form.delete(name);
  const codeVerifier = form.get('code_verifier');
  const challenge = endpoint === 'token' ? challenges.get(credential) : undefined;
  if (challenge !== undefined) {
    if (codeVerifier === undefined) return 'token call without code_verifier';
    if (!codeVerifierForm.test(codeVerifier)) return 'token call with a malformed code_verifier';
    if (hash('sha256', codeVerifier, 'base64url') !== challenge) {
      return 'token call with another code_verifier';
    }
    form.delete('code_verifier');
  }
  if (form.size > 0) return `${endpoint} call with extra parameters: ${[...form.keys()].join(', ')}`;

  if (tokenRequest === 'query') {
    if (body !== '') return 'token call with a body';
    if ((request.headers['content-length'] ?? '0') !== '0') return 'token call announces a body';
    if (request.headers['transfer-encoding']) return 'token call announces a body';
  } else {
    if (query !== '') return `${endpoint} call with a query`;
    const type = request.headers['content-type']?.split(';')[0];
    if (type !== 'application/x-www-form-urlencoded') return `${endpoint} call with a ${type}`;
  }
  const { authorization } = request.headers;
  if (!isBasic && authorization !== undefined) return `${endpoint} call authorizes itself`;
  const raw = readBasic(authorization);
  const credentials = tokenRequest === 'basic' ? raw?.split(':').map(formDecode) : [raw];
  if (isBasic && credentials?.join(':') !== `${clientId}:${clientSecret}`) {
    return `${endpoint} call with a wrong Authorization`;
  }
  return { endpoint, credential, ...(codeVerifier && { codeVerifier }), ...(scope && { scope }) };
}

function readUserCall({ request, query, body }: Received): Reading | string {
  if (request.method !== 'GET') return `user call with method ${request.method}`;
  if (query !== '') return 'user call with a query';
  if (body !== '' || request.headers['content-length'] || request.headers['transfer-encoding']) {
    return 'user call with a body';
  }
  const token = /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return 'user call with a wrong bearer header';
  return { endpoint: 'user', credential: token };
}

/** The credentials in the header. */
function readBasic(authorization = ''): string | undefined {
  const credentials = /^Basic ([\w+/]+=*)$/.exec(authorization)?.[1];
  return credentials && Buffer.from(credentials, 'base64').toString();
}

/** The parameters by name, or the fault. Each may come only once, and must decode exactly. */
export function readForm(text: string): Map<string, string> | string {
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
