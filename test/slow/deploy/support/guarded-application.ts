import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Serving, serve, serveTcp } from '../../../harness/provider/serve.ts';

export type Header = readonly [name: string, value: string];

/** Whom the relay's check shows. A proxy must not read any of it. */
export const identity: readonly Header[] = [
  ['X-Forwarded-User', '583231'],
  ['X-Forwarded-Preferred-Username', 'octo{http.request.host}$host'],
  ['X-Forwarded-Email', ''],
  ['X-Forwarded-Groups', Array.from({ length: 900 }, (_, n) => `org/caf%C3%A9-${n}`).join()],
];

export const challenge =
  'Bearer resource_metadata="https://notes.example.com/.well-known/oauth-protected-resource/mcp"';
export const metadataPath = '/.well-known/oauth-protected-resource/mcp';

/** The relay as a proxy sees it: the check of the resource "notes", and its metadata. */
export interface Relay extends Serving {
  /** The checks that a proxy should not have made so. */
  readonly violations: string[];
}

/** Stands in for the relay. */
export async function startRelay(): Promise<Relay> {
  const violations: string[] = [];
  const server = await serve((request, response) => {
    if (request.url === metadataPath) {
      response.end(request.headers.host);
      return;
    }
    const { method, url, headers } = request;
    const extra = ['cookie', 'upgrade', 'content-length', 'transfer-encoding'];
    const found = extra.filter((name) => headers[name] !== undefined);
    const called = `${method} ${url} ${found.join(' ')} for ${headers['x-forwarded-for']}`;
    if (called !== 'GET /auth/check/notes  for 127.0.0.1') violations.push(called);
    answer(request, response);
  });
  return Object.assign(server, { violations });
}

function answer({ headers, rawHeaders, socket }: IncomingMessage, response: ServerResponse): void {
  const tokens = rawHeaders.filter((_, at) => /^authorization$/i.test(rawHeaders[at - 1] ?? ''));
  const inQuery = /[?&]access_token=/.test(String(headers['x-forwarded-uri']));
  const [token = ''] = tokens;
  if (token === 'Bearer reset') {
    socket.resetAndDestroy();
    return;
  }
  const error = token === '' ? '' : ', error="invalid_token"';
  const [status, shown] =
    tokens.length > 1 || inQuery
      ? malformed
      : (answers[token] ?? [401, [['WWW-Authenticate', challenge + error]]]);
  response.writeHead(status, shown.flat()).end();
}

type Reply = readonly [status: number, shown: readonly Header[]];
const malformed: Reply = [400, []];
const answers: Readonly<Record<string, Reply>> = {
  'Bearer good': [204, identity],
  'Bearer busy': [503, [['Retry-After', '7']]],
  'Bearer broken': [500, []],
};

/** The application behind a proxy: it remembers the heads of its requests, each as it came. */
export interface Application extends Serving {
  readonly heads: string[];
  /** The connection of the last request. */
  latest(): Socket;
}

/** Starts an application that streams at `/events`, and echoes over WebSockets. */
export async function startApplication(): Promise<Application> {
  const heads: string[] = [];
  let last: Socket | undefined;
  const server = await serveTcp((socket) => {
    let head = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (head.includes('\r\n\r\n')) return;
      head += text;
      if (!head.includes('\r\n\r\n')) return;
      heads.push(head);
      last = socket;
      if (/^upgrade: websocket\r$/im.test(head)) {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
            `Sec-WebSocket-Accept: ${acceptOf(head)}\r\n\r\n`,
        );
        socket.pipe(socket);
      } else if (head.includes(' /events ')) {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n',
        );
      } else {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
      }
    });
  });
  return Object.assign(server, {
    heads,
    latest: () => {
      if (last === undefined) throw new Error('no request has come');
      return last;
    },
  });
}

/** @see RFC 6455 §4.2.2 */
function acceptOf(head: string): string {
  const [, key = ''] = /^sec-websocket-key: (.*)\r$/im.exec(head) ?? [];
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** The headers of a request, with its line left out. */
export function headersIn(head: string): Header[] {
  const [, ...lines] = head.slice(0, head.indexOf('\r\n\r\n')).split('\r\n');
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
}
