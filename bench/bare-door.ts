// The lower limit of doors: the decryption of the relay's tokens on plain node:http, for a check and for a request that
// passes. It does not remember tokens, and has no rules, limits, errors or log.
import { randomBytes, randomUUID } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createAccessTokens } from '../src/resources/access-tokens.ts';
import { announce, origin } from './registration.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const tokens = createAccessTokens([randomBytes(32)], Date.now);
const resource = { audience: ['http://localhost:8000/mcp'] };
const now = Math.floor(Date.now() / 1000);
const content = { login: randomUUID(), frontEnd: 'app', audience: 'app', sub: '1', iat: now, exp: now + 36_000 };
const token = tokens.issue(content, resource);

const server = createServer((incoming, response) => {
  const { url = '', headers } = incoming;
  if (url === '/own-token') {
    response.end(token);
    return;
  }
  const opened = tokens.prepareToOpen(headers.authorization?.slice('Bearer '.length) ?? '')(resource);
  if (opened === undefined) response.writeHead(401).end();
  else if (url === '/auth/check/notes') answerCheck(opened.sub, response);
  else pass(incoming, opened.sub, response);
});
server.listen(0, '127.0.0.1', () => announce(server));

function answerCheck(user: string, response: ServerResponse): void {
  response
    .writeHead(204, {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': randomUUID(),
      'X-Forwarded-User': user,
      'X-Forwarded-Preferred-Username': '',
      'X-Forwarded-Email': '',
      'X-Forwarded-Groups': '',
    })
    .end();
}

function pass(incoming: IncomingMessage, user: string, response: ServerResponse): void {
  const { method, url, headers } = incoming;
  const { authorization: _, host: __, connection: ___, ...passed } = headers;
  const outgoing = request(`${origin}${url}`, { method, agent, headers: { ...passed, 'x-forwarded-user': user } });
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  incoming.pipe(outgoing);
}
