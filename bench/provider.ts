// The provider of every contender. It knows one client, checks PKCE, signs ID tokens, and stores nothing.
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { accessTokenOf, recordOf, userOf } from './records.ts';
import { announce, registration } from './registration.ts';

const { clientId, clientSecret } = registration;
const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
const event = `data: ${'x'.repeat(92)}\n\n`;
const { publicKey, privateKey } = await generateKeyPair('RS256');
const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig', kid: 'bench' }] });
let users = 0;

const server = createServer({ keepAliveTimeout: 120_000 }, async (request, response) => {
  const [path, query] = (request.url ?? '').split('?', 2);
  if (path === '/user') lookUp(request, response);
  else if (path === '/mcp/events') sendEvents(response);
  else if (path === '/mcp') await echo(request, response);
  else if (path?.startsWith('/mcp/')) send(response, 200, bodyOf(Number(path.slice('/mcp/'.length))));
  else if (path === '/.well-known/openid-configuration') send(response, 200, JSON.stringify(metadata(request)));
  else if (path === '/jwks') send(response, 200, keys);
  else if (path === '/authorize') authorize(new URLSearchParams(query), response);
  else await exchange(request, new URLSearchParams(query), response);
});
server.on('upgrade', ({ headers }, socket: Socket) => {
  const accept = hash('sha1', `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64');
  const head = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${head}`);
  sendEachSecond(socket, Buffer.concat([Buffer.from([0x81, event.length]), Buffer.from(event)]));
});
server.listen(0, '127.0.0.1', () => announce(server));

function authorize(query: URLSearchParams, response: ServerResponse): void {
  users += 1;
  // The code contains the challenge and the nonce, so that the provider stores nothing.
  const code = [users, query.get('code_challenge') ?? '', query.get('nonce') ?? ''].join('.');
  const state = query.get('state');
  const parameters = new URLSearchParams({ code, ...(state !== null && { state }) });
  response.writeHead(302, { location: `${query.get('redirect_uri')}?${parameters}`, 'content-length': 0 }).end();
}

async function exchange(request: IncomingMessage, query: URLSearchParams, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('latin1')) body += chunk;
  const form = new URLSearchParams(body);
  const parameter = (name: string) => query.get(name) ?? form.get(name);
  const known =
    request.headers.authorization === basic ||
    (parameter('client_id') === clientId && parameter('client_secret') === clientSecret);
  if (!known) return send(response, 401, '{"error":"invalid_client"}');
  const grant = parameter('code') ?? parameter('refresh_token');
  const [user, challenge = '', nonce = ''] = grant?.split('.') ?? [];
  const verifier = parameter('code_verifier') ?? '';
  const proven = challenge === '' || hash('sha256', verifier, 'base64url') === challenge;
  if (!proven || user === undefined) return send(response, 400, '{"error":"invalid_grant"}');
  const access_token = accessTokenOf(Number(user));
  const token = { access_token, token_type: 'bearer', scope: '', refresh_token: user };
  const identity = nonce !== '' && { id_token: await idToken(request, user, nonce) };
  send(response, 200, JSON.stringify({ ...token, ...identity }));
}

const issuerOf = ({ headers }: IncomingMessage) => `http://${headers.host}`;

function metadata(request: IncomingMessage): object {
  const issuer = issuerOf(request);
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/user`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

function idToken(request: IncomingMessage, user: string, nonce: string): Promise<string> {
  return new SignJWT({ nonce })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
    .setIssuer(issuerOf(request))
    .setAudience(clientId)
    .setSubject(user)
    .setIssuedAt()
    .setExpirationTime('10h')
    .sign(privateKey);
}

/** Streams an event a second. */
function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  sendEachSecond(response, event);
}

function sendEachSecond(to: Writable, message: string | Buffer): void {
  const timer = setInterval(() => to.write(message), 1_000);
  to.on('error', () => {}).once('close', () => clearInterval(timer));
}

/** A server behind the gateway. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('latin1')) body += chunk;
  send(response, 200, body);
}

const bodies = new Map<number, string>();

/** A body of so many bytes. */
function bodyOf(length: number): string {
  const body = bodies.get(length) ?? 'x'.repeat(length);
  bodies.set(length, body);
  return body;
}

function lookUp({ headers }: IncomingMessage, response: ServerResponse): void {
  const user = userOf(headers.authorization?.split(' ')[1] ?? '');
  if (Number.isNaN(user)) send(response, 401, '{"message":"Bad credentials"}');
  else send(response, 200, recordOf(user));
}

function send(response: ServerResponse, status: number, body: string): void {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}
