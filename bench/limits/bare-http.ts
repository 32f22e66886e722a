// The limit: what the relay sends and computes, on node:http alone. No routing, no middleware, no
// limits, no errors, no log. `--protection` does the relay's cryptography as well.
import { createHmac, hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import { parse } from 'node:querystring';
import { parseArgs } from 'node:util';
import { authorizeUrl, tokenUrl, userUrl } from '../provider/endpoints.ts';
import { registration } from '../registration.ts';
import { announce } from './announce.ts';
import { commonHeaders, crossOrigin, preflight } from './headers.ts';

const { values } = parseArgs({ options: { protection: { type: 'boolean', default: false } } });
const { clientId, clientSecret, redirectUri, frontEnd } = registration;
const { Agent, request } = userUrl.startsWith('https:') ? https : http;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const key = randomBytes(32);
const audience = Buffer.from(`${clientId} ${redirectUri}`);
const authorizationRequest = `${authorizeUrl}?${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri })}`;
const tokenQuery = new URLSearchParams({
  client_id: clientId,
  client_secret: clientSecret,
  redirect_uri: redirectUri,
}).toString();

function startLogin(response: http.ServerResponse): void {
  if (!values.protection) {
    response
      .writeHead(307, { ...commonHeaders(), Location: authorizationRequest, 'Content-Length': '0' })
      .end();
    return;
  }
  const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  const secret = randomBytes(32);
  const payload = Buffer.alloc(21);
  payload.writeUInt32BE(Math.floor(Date.now() / 1000), 1);
  id.copy(payload, 5);
  const state = Buffer.concat([payload, macOf(payload, secret)]).toString('base64url');
  const challenge = hash('sha256', verifierOf(secret, id), 'base64url');
  response
    .writeHead(307, {
      ...commonHeaders(),
      'Set-Cookie': `lr_${id.toString('hex', 0, 8)}=${secret.toString('base64url')}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`,
      Location: `${authorizationRequest}&state=${state}&code_challenge=${challenge}&code_challenge_method=S256`,
      'Content-Length': '0',
    })
    .end();
}

function macOf(payload: Buffer, secret: Buffer): Buffer {
  const secretHash = hash('sha256', secret, 'buffer');
  return createHmac('sha256', key)
    .update(Buffer.concat([payload, secretHash, audience]))
    .digest();
}

function verifierOf(secret: Buffer, id: Buffer): string {
  return createHmac('sha256', secret).update('code_verifier').update(id).digest('base64url');
}

function finishLogin(incoming: http.IncomingMessage, response: http.ServerResponse): void {
  const query = parse(incoming.url?.slice(incoming.url.indexOf('?') + 1) ?? '');
  const { code, state } = query as Record<string, string>;
  const protection = values.protection ? checked(state ?? '', incoming) : undefined;
  const proof = protection === undefined ? '' : `&code_verifier=${protection.verifier}`;
  const target = `${tokenUrl}?${tokenQuery}&code=${encodeURIComponent(code ?? '')}${proof}`;
  call('POST', target, {}, (body) => {
    const { access_token } = JSON.parse(body.toString());
    response
      .writeHead(307, {
        ...commonHeaders(),
        ...protection?.headers,
        Location: `${frontEnd}/?access_token=${access_token}`,
        'Content-Length': '0',
      })
      .end();
  });
}

function checked(state: string, { headers }: http.IncomingMessage) {
  const bytes = Buffer.from(state, 'base64url');
  const payload = bytes.subarray(0, -32);
  const id = payload.subarray(5, 21);
  const name = `lr_${id.toString('hex', 0, 8)}`;
  const [, cookie = ''] = new RegExp(`${name}=([^;]*)`).exec(headers.cookie ?? '') ?? [];
  const secret = Buffer.from(cookie, 'base64url');
  if (!timingSafeEqual(macOf(payload, secret), bytes.subarray(-32))) throw new Error('altered');
  const attributes = 'Path=/; HttpOnly; SameSite=Lax';
  return {
    verifier: verifierOf(secret, id),
    headers: {
      'Set-Cookie': [
        `${name}=; Max-Age=0; ${attributes}`,
        `lr_finished=${id.toString('hex', 0, 8)}; Max-Age=600; ${attributes}`,
      ],
    },
  };
}

function lookUp(incoming: http.IncomingMessage, response: http.ServerResponse): void {
  const token = incoming.headers.authorization?.split(' ')[1] ?? '';
  call('GET', userUrl, { authorization: `Bearer ${token}` }, (body) => {
    JSON.parse(body.toString());
    response
      .writeHead(200, {
        ...commonHeaders(),
        ...crossOrigin,
        'Content-Type': 'application/json',
        'Content-Length': body.length,
      })
      .end(body);
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

announce(
  http.createServer((incoming, response) => {
    const { method, url = '' } = incoming;
    if (method === 'OPTIONS') {
      response.writeHead(204, { ...commonHeaders(), ...preflight }).end();
    } else if (url === '/auth/provider') startLogin(response);
    else if (url.startsWith('/auth/provider/callback')) finishLogin(incoming, response);
    else lookUp(incoming, response);
  }),
);
