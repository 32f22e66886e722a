import { once } from 'node:events';
import { ws as WebSocketClient } from 'playwright-core/lib/utilsBundle';
import { RawConnection } from '../../../harness/client/raw-connection.ts';

/** A client that waits for numbers, which come in order, until the end. */
export interface Listener {
  /** The last number. */
  readonly latest: () => number;
  /** How it has ended: `1001 stop` for a WebSocket, `complete` for a stream of events, `broken` for both. */
  readonly ended: Promise<string>;
  close(): void;
}

/** Where and as whom a client listens. */
export interface Place {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Opens a WebSocket. @throws {Error} if it is refused */
export async function openWebSocket(port: number, { host, path, headers }: Place): Promise<Listener> {
  const client = new WebSocketClient(`ws://127.0.0.1:${port}${path}`, [], { headers: { ...headers, Host: host } });
  let latest = 0;
  let isInOrder = true;
  client.on('message', (data: Buffer) => {
    isInOrder &&= Number(`${data}`) === latest + 1;
    latest += 1;
  });
  const ended = new Promise<string>((resolve) => {
    client.on('close', (code: number, reason: Buffer) => {
      const how = code === 1006 ? 'broken' : `${code} ${reason}`;
      resolve(isInOrder ? how : `${how}, out of order`);
    });
  });
  await once(client, 'open');
  client.on('error', () => {});
  return { latest: () => latest, ended, close: () => client.terminate() };
}

/** Opens a stream of events. @throws {Error} if it is refused */
export async function openEvents(port: number, { host, path, headers }: Place): Promise<Listener> {
  const connection = await RawConnection.open(port);
  const lines = Object.entries({ Host: host, Accept: 'text/event-stream', ...headers }).map((one) => one.join(': '));
  connection.say([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  await connection.hear('\r\n\r\n');
  if (!connection.heard.startsWith('HTTP/1.1 200 ')) throw new Error(connection.heard);
  const numbers = () => [...connection.heard.matchAll(/^data: (\d+)\n/gm)].map(([, number]) => Number(number));
  const isInOrder = () => numbers().every((number, index) => number === index + 1);
  const complete = connection.hear('\r\n0\r\n\r\n').then(
    () => 'complete',
    () => 'broken',
  );
  const ended = complete.then((how) => (isInOrder() ? how : `${how}, out of order`));
  return { latest: () => numbers().length, ended, close: () => connection.close() };
}
