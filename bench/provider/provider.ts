// The provider that every contender logs in at: it knows one client, checks PKCE, and stores nothing.
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { parseArgs } from 'node:util';
import { issueCertificate } from '../../test/support/certificate.ts';
import { registration } from '../registration.ts';
import { delayConnections } from './delayed-connections.ts';
import { accessTokenOf, recordOf, userOf } from './records.ts';

const { values } = parseArgs({ options: { delay: { type: 'string', default: '50' } } });
const keepAliveTimeout = 120_000;
let users = 0;

function answer(request: IncomingMessage, response: ServerResponse): void {
  const [path, query] = (request.url ?? '').split('?', 2);
  if (path === '/user') sendRecord(request, response);
  else if (path === '/authorize') authorize(new URLSearchParams(query), response);
  else if (path === '/token') sendToken(request, new URLSearchParams(query), response);
  else send(response, 404, '{}');
}

function authorize(query: URLSearchParams, response: ServerResponse): void {
  const { clientId, redirectUri } = registration;
  const valid =
    query.get('response_type') === 'code' &&
    query.get('client_id') === clientId &&
    query.get('redirect_uri') === redirectUri;
  if (!valid) {
    send(response, 400, '{"error":"invalid_request"}');
    return;
  }
  users += 1;
  // The code carries the challenge, so that nothing has to be stored until it is spent.
  const code = `${users}.${query.get('code_challenge') ?? ''}`;
  const state = query.get('state');
  const parameters = new URLSearchParams({ code, ...(state !== null && { state }) });
  response.writeHead(302, { location: `${redirectUri}?${parameters}`, 'content-length': 0 }).end();
}

async function sendToken(
  request: IncomingMessage,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('latin1')) body += chunk;
  const form = new URLSearchParams(body);
  const parameter = (name: string) => query.get(name) ?? form.get(name);
  const [user, challenge = ''] = parameter('code')?.split('.') ?? [];
  const verifier = parameter('code_verifier');
  const proven = challenge === '' || hash('sha256', verifier ?? '', 'base64url') === challenge;
  const { clientId, clientSecret } = registration;
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const known =
    request.headers.authorization === basic ||
    (parameter('client_id') === clientId && parameter('client_secret') === clientSecret);
  if (!known) return send(response, 401, '{"error":"invalid_client"}');
  if (!proven || user === undefined) return send(response, 400, '{"error":"invalid_grant"}');
  const access_token = accessTokenOf(Number(user));
  send(response, 200, JSON.stringify({ access_token, token_type: 'bearer', scope: '' }));
}

function sendRecord(request: IncomingMessage, response: ServerResponse): void {
  const user = userOf(request.headers.authorization?.split(' ')[1] ?? '');
  if (user === undefined) send(response, 401, '{"message":"Bad credentials"}');
  else send(response, 200, recordOf(user));
}

function send(response: ServerResponse, status: number, body: string): void {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const certificate = await issueCertificate('localhost');
const plain = await listen(createServer({ keepAliveTimeout }, answer));
const tls = await listen(createTlsServer({ ...certificate, keepAliveTimeout }, answer));
const distant = await listen(delayConnections(tls, Number(values.delay) / 2));
const { authorityFile } = certificate;
process.stdout.write(`${JSON.stringify({ plain, distant, authorityFile })}\n`);
process.once('SIGTERM', async () => {
  await certificate.remove();
  process.exit();
});
