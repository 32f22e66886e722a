// The lower limit: the messages and computations of the relay on plain node:http. It has no routing, no
// middleware, no limits, no errors and no log.
import { createHmac, hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { announce, authorizeUrl, registration, tokenUrl, userUrl } from './registration.ts';

const { clientId, clientSecret, redirectUri, frontEnd } = registration;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const key = randomBytes(32);
const audience = Buffer.from(`${clientId} ${redirectUri}`);
const authorization = `${authorizeUrl}?${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri })}`;
const client = { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri };
const tokenRequest = `${tokenUrl}?${new URLSearchParams(client)}`;
const attributes = 'Path=/; HttpOnly; SameSite=Lax';

const server = createServer((incoming, response) => {
  const { url = '' } = incoming;
  if (url === '/auth/provider') startLogin(response);
  else if (url.startsWith('/auth/provider/callback')) finishLogin(incoming, response);
  else lookUp(incoming, response);
});
server.listen(0, '127.0.0.1', () => announce(server));

function commonHeaders(): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': randomUUID(),
    Vary: 'Origin',
  };
}

function startLogin(response: ServerResponse): void {
  const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  const secret = randomBytes(32);
  const payload = Buffer.alloc(21);
  payload.writeUInt32BE(Math.floor(Date.now() / 1000), 1);
  id.copy(payload, 5);
  const state = Buffer.concat([payload, macOf(payload, secret)]).toString('base64url');
  const challenge = hash('sha256', verifierOf(secret, id), 'base64url');
  redirect(
    response,
    `${authorization}&state=${state}&code_challenge=${challenge}&code_challenge_method=S256`,
    [
      `lr_login_${id.toString('hex', 0, 8)}=${secret.toString('base64url')}; Max-Age=600; ${attributes}`,
    ],
  );
}

function finishLogin({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const { code, state } = parse(url.slice(url.indexOf('?') + 1)) as Record<string, string>;
  const bytes = Buffer.from(state ?? '', 'base64url');
  const payload = bytes.subarray(0, -32);
  const id = payload.subarray(5, 21);
  const name = `lr_login_${id.toString('hex', 0, 8)}`;
  const [, cookie = ''] = new RegExp(`${name}=([^;]*)`).exec(headers.cookie ?? '') ?? [];
  const secret = Buffer.from(cookie, 'base64url');
  if (!timingSafeEqual(macOf(payload, secret), bytes.subarray(-32))) throw new Error('altered');
  const parameters = `code=${encodeURIComponent(code ?? '')}&code_verifier=${verifierOf(secret, id)}`;
  call('POST', `${tokenRequest}&${parameters}`, {}, (body) => {
    const { access_token } = JSON.parse(body.toString());
    redirect(response, `${frontEnd}/?access_token=${access_token}`, [
      `${name}=; Max-Age=0; ${attributes}`,
      `lr_login_finished=${id.toString('hex', 0, 8)}; Max-Age=600; ${attributes}`,
    ]);
  });
}

function redirect(response: ServerResponse, location: string, cookies: string[]): void {
  const headers = { 'Set-Cookie': cookies, Location: location, 'Content-Length': '0' };
  response.writeHead(307, { ...commonHeaders(), ...headers }).end();
}

function macOf(payload: Buffer, secret: Buffer): Buffer {
  const secretHash = hash('sha256', secret, 'buffer');
  const message = Buffer.concat([payload, secretHash, audience]);
  return createHmac('sha256', key).update(message).digest();
}

function verifierOf(secret: Buffer, id: Buffer): string {
  return createHmac('sha256', secret).update('code_verifier').update(id).digest('base64url');
}

function lookUp(incoming: IncomingMessage, response: ServerResponse): void {
  const token = incoming.headers.authorization?.split(' ')[1] ?? '';
  call('GET', userUrl, { authorization: `Bearer ${token}` }, (body) => {
    JSON.parse(body.toString());
    const headers = {
      'Access-Control-Allow-Origin': frontEnd,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': 'Retry-After,WWW-Authenticate,X-Request-Id',
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    };
    response.writeHead(200, { ...commonHeaders(), ...headers }).end(body);
  });
}

function call(
  method: string,
  url: string,
  headers: Record<string, string>,
  done: (body: Buffer) => void,
): void {
  const accept = { accept: 'application/json', 'accept-encoding': 'identity' };
  const outgoing = request(url, { method, agent, headers: { ...accept, ...headers } });
  outgoing.on('response', (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => done(Buffer.concat(chunks)));
  });
  outgoing.end();
}
