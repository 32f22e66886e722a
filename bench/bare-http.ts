// The lower limit: the messages and the cryptography of the relay on plain node:http. It has no routing, no
// middleware, no limits, no errors and no log.
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { deriveCodeChallenge, deriveLoginParts } from '../src/login/pkce.ts';
import { createStates } from '../src/login/state.ts';
import { announce, authorizeUrl, registration, tokenUrl, userUrl } from './registration.ts';

const { clientId, clientSecret, redirectUri, frontEnd } = registration;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const states = createStates([randomBytes(32)], () => clientId, redirectUri);
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
  const secret = randomBytes(32);
  const { id, codeVerifier } = deriveLoginParts(secret);
  const issuedAt = Math.floor(Date.now() / 1000);
  const { state } = states.seal({ id, issuedAt, frontEnd: 'app', request: {} });
  const challenge = `code_challenge=${deriveCodeChallenge(codeVerifier)}&code_challenge_method=S256`;
  const cookie = `lr_login_${id.toString('hex', 0, 8)}=${secret.toString('base64url')}`;
  redirect(response, `${authorization}&state=${state}&${challenge}`, [`${cookie}; Max-Age=600; ${attributes}`]);
}

function finishLogin({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const { code, state } = parse(url.slice(url.indexOf('?') + 1)) as Record<string, string>;
  const login = states.open(state ?? '');
  const shortId = login?.id.toString('hex', 0, 8);
  const [, cookie = ''] = new RegExp(`lr_login_${shortId}=([^;]*)`).exec(headers.cookie ?? '') ?? [];
  const { id, codeVerifier } = deriveLoginParts(Buffer.from(cookie, 'base64url'));
  if (!login || !timingSafeEqual(id, login.id)) throw new Error('altered');
  const parameters = `code=${encodeURIComponent(code ?? '')}&code_verifier=${codeVerifier}`;
  call('POST', `${tokenRequest}&${parameters}`, {}, (body) => {
    const { access_token } = JSON.parse(body.toString());
    redirect(response, `${frontEnd}/?access_token=${access_token}`, [
      `lr_login_finished=${shortId}; Max-Age=600; ${attributes}`,
      `lr_login_${shortId}=; Max-Age=0; ${attributes}`,
    ]);
  });
}

function redirect(response: ServerResponse, location: string, cookies: string[]): void {
  const headers = { 'Set-Cookie': cookies, Location: location, 'Content-Length': '0' };
  response.writeHead(307, { ...commonHeaders(), ...headers }).end();
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

function call(method: string, url: string, headers: Record<string, string>, done: (body: Buffer) => void): void {
  const accept = { accept: 'application/json', 'accept-encoding': 'identity' };
  const outgoing = request(url, { method, agent, headers: { ...accept, ...headers } });
  outgoing.on('response', (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => done(Buffer.concat(chunks)));
  });
  outgoing.end();
}
