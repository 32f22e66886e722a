// The provider of every contender. It knows one client, checks PKCE, and stores nothing.
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { accessTokenOf, recordOf, userOf } from './records.ts';
import { announce, registration } from './registration.ts';

const { clientId, clientSecret, redirectUri } = registration;
const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
let users = 0;

const server = createServer({ keepAliveTimeout: 120_000 }, async (request, response) => {
  const [path, query] = (request.url ?? '').split('?', 2);
  if (path === '/user') lookUp(request, response);
  else if (path === '/mcp') await echo(request, response);
  else if (path === '/authorize') authorize(new URLSearchParams(query), response);
  else await exchange(request, new URLSearchParams(query), response);
});
server.listen(0, '127.0.0.1', () => announce(server));

function authorize(query: URLSearchParams, response: ServerResponse): void {
  users += 1;
  // The code contains the challenge, so that the provider stores nothing.
  const code = `${users}.${query.get('code_challenge') ?? ''}`;
  const state = query.get('state');
  const parameters = new URLSearchParams({ code, ...(state !== null && { state }) });
  response.writeHead(302, { location: `${redirectUri}?${parameters}`, 'content-length': 0 }).end();
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
  const [user, challenge = ''] = grant?.split('.') ?? [];
  const verifier = parameter('code_verifier') ?? '';
  const proven = challenge === '' || hash('sha256', verifier, 'base64url') === challenge;
  if (!proven || user === undefined) return send(response, 400, '{"error":"invalid_grant"}');
  const access_token = accessTokenOf(Number(user));
  const token = { access_token, token_type: 'bearer', scope: '', refresh_token: user };
  send(response, 200, JSON.stringify(token));
}

/** A server behind the gateway. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('latin1')) body += chunk;
  send(response, 200, body);
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
