import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Flags } from '../../harness/relay/relay-command.ts';

/** The relay's, registered at the provider. */
export const redirectUri = 'https://relay.example/auth/provider/callback';

/** Answers one call on its connection. `body` is the answer of an honest provider. */
export type Answer = (connection: Socket, body: string, credential: string) => void;

/** A provider that is fast enough for millions of calls, and can send any bytes. */
export interface Provider {
  /** The flags of a relay that uses this provider. */
  readonly flags: Flags;
  /** Those that are open. */
  readonly connections: ReadonlySet<Socket>;
  /** How many there have been. */
  accepted(): number;
  stop(): void;
}

/** The token that is issued for a code. */
export const tokenFor = (code: string) => `token-for-${code}`;
/** The record of the user of a token. */
export const recordOf = (token: string) => JSON.stringify({ login: `owner-of-${token}` });

/** The bytes of a whole response with this body. */
export function written(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A token for a code, or the record for a token. */
export const honestly: Answer = (connection, body) => {
  connection.write(written(body));
};

/** @param answer what every call gets */
export async function startProvider(answer: Answer): Promise<Provider> {
  const connections = new Set<Socket>();
  let accepted = 0;
  const server = createServer({ noDelay: true }, (connection) => {
    accepted += 1;
    connections.add(connection);
    connection.on('error', () => {});
    connection.on('close', () => connections.delete(connection));
    connection.setEncoding('latin1');
    let received = '';
    connection.on('data', (text: string) => {
      received += text;
      // Neither call has a body. So a request ends with its headers.
      for (let end = received.indexOf(headEnd); end >= 0; end = received.indexOf(headEnd)) {
        const head = received.slice(0, end);
        received = received.slice(end + headEnd.length);
        const credential = credentialIn(head);
        answer(connection, honestBody(head, credential), credential);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    flags: {
      'authorize-url': `${origin}/authorize`,
      'token-url': `${origin}/token`,
      'user-url': `${origin}/user`,
    },
    connections,
    accepted: () => accepted,
    stop() {
      server.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

const headEnd = '\r\n\r\n';

function credentialIn(head: string): string {
  return /^(?:POST \/token\?(?:.*&)?code=|authorization: Bearer )([^&\s]+)/im.exec(head)?.[1] ?? '';
}

function honestBody(head: string, credential: string): string {
  if (head.startsWith('GET')) return recordOf(credential);
  return JSON.stringify({ access_token: tokenFor(credential), token_type: 'bearer' });
}
