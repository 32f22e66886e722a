import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ClientsRelay } from '../../../clients/support/clients-relay.ts';
import { json } from '../../../harness/provider/provider-behaviours.ts';
import { type Serving, serveTcp } from '../../../harness/provider/serve.ts';
import { logIn, notes, ofApp, tokensOf } from '../../../resources/support/resources-relay.ts';

export type Header = readonly [name: string, value: string];

const person = {
  sub: '583231',
  preferred_username: 'octo{http.request.host}$host',
  groups: Array.from({ length: 90 }, (_, n) => `${'é'.repeat(18)}-${n}`),
};

/** Whom the relay's check shows: about as much as fits into a token. A proxy must not read any of it. */
export const identity: readonly Header[] = [
  ['X-Forwarded-User', person.sub],
  ['X-Forwarded-Preferred-Username', person.preferred_username],
  ['X-Forwarded-Email', ''],
  ['X-Forwarded-Groups', person.groups.map(encodeURIComponent).join()],
];

export const challenge =
  'Bearer resource_metadata="https://notes.example.com/.well-known/oauth-protected-resource/mcp"';
export const metadataPath = '/.well-known/oauth-protected-resource/mcp';

/** The relay behind a proxy, and a token of it. */
export interface Relay {
  readonly port: number;
  readonly token: string;
  /** The checks that a proxy should not have made so. */
  readonly violations: string[];
  close(): Promise<void>;
}

/** Starts a relay with the resource "notes", and with another resource that differs only in its host. */
export async function startRelay(): Promise<Relay> {
  const relay = await ClientsRelay.listen();
  await relay.restart({
    relay: `trusted-proxies: 127.0.0.1
resources:
  notes: { url: https://notes.example.com/mcp, identity: [email, groups] }
  others: { url: https://others.example.com/mcp }
`,
    frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [notes, others] }',
  });
  relay.provider.onUser = json(person);
  const { access_token: token } = tokensOf(await logIn(relay, { ...ofApp, resource: notes }));
  const violations: string[] = [];
  relay.intercept = ({ method, url, headers, socket }, response) => {
    if (url === metadataPath) return false;
    const extra = ['cookie', 'upgrade', 'content-length', 'transfer-encoding'];
    const found = extra.filter((name) => headers[name] !== undefined);
    const called = `${method} ${url} ${found.join(' ')} for ${headers['x-forwarded-for']}`;
    if (called !== 'GET /auth/check/notes  for 127.0.0.1') violations.push(called);
    const trouble = troubles[headers.authorization ?? ''];
    trouble?.(response, socket);
    return trouble !== undefined;
  };
  let closing: Promise<void> | undefined;
  const close = async () => {
    closing ??= relay.stop();
    await closing;
  };
  return { port: relay.port, close, token, violations };
}

/**
 * The answers that a check gets instead of the relay's, by its credentials. A relay answers in this way only if
 * something is broken.
 */
const troubles: Readonly<Record<string, (response: ServerResponse, socket: Socket) => void>> = {
  'Bearer busy': (response) => void response.writeHead(503, { 'Retry-After': '7' }).end(),
  'Bearer broken': (response) => void response.writeHead(500).end(),
  'Bearer reset': (_, socket) => void socket.resetAndDestroy(),
};

/** The application behind a proxy. It remembers the heads of its requests unchanged. */
export interface Application extends Serving {
  readonly heads: string[];
  /** All that came on the connections of uploads. */
  readonly uploads: string[];
  /** The connection of the last request. */
  latest(): Socket;
  /** How many connections are open. */
  open(): number;
}

/** Starts an application that streams at `/events`, echoes over WebSockets, and reads whole requests at `/upload`. */
export async function startApplication(): Promise<Application> {
  const heads: string[] = [];
  const uploads: string[] = [];
  const open = new Set<Socket>();
  let last: Socket | undefined;
  const server = await serveTcp((socket) => {
    let head = '';
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.setEncoding('latin1').on('data', (text: string) => {
      const isUpload = head.includes(' /upload ');
      if (head.includes('\r\n\r\n') && !isUpload) return;
      head += text;
      if (isUpload || head.includes(' /upload ')) {
        if (!isWhole(head)) return;
        uploads.push(head);
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
        return;
      }
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
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n');
      } else {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
      }
    });
  });
  return Object.assign(server, {
    heads,
    uploads,
    open: () => open.size,
    latest: () => {
      if (last === undefined) throw new Error('no request has come');
      return last;
    },
  });
}

/** Whether a request has come with all of its body, and its trailers. */
function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const body = request.slice(end + 4);
  if (/^transfer-encoding: *chunked\r$/im.test(request)) return /(?:^|\r\n)0\r\n(?:[^\r\n]+\r\n)*\r\n$/.test(body);
  return body.length >= Number(/^content-length: *(\d+)\r$/im.exec(request)?.[1] ?? 0);
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
