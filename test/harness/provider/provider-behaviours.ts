import type { OutgoingHttpHeaders } from 'node:http';
import type { Behaviour } from './strict-provider.ts';

/** Answers with exactly this status, body and these headers. */
export function answer(
  status: number,
  body: string | Buffer = '',
  headers: OutgoingHttpHeaders = { 'Content-Type': 'application/json' },
): Behaviour {
  return (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

/** Answers 200 with the value as JSON. */
export function json(value: unknown): Behaviour {
  return answer(200, JSON.stringify(value), { 'Content-Type': 'application/json; charset=utf-8' });
}

/** Resets the connection (RST) without a byte of an answer. */
export const reset: Behaviour = (response) => {
  response.socket?.resetAndDestroy();
};

/** Closes the connection (FIN) without a byte of an answer. */
export const hangUp: Behaviour = (response) => {
  response.socket?.destroy();
};

/** Takes the request and never answers. */
export const silence: Behaviour = () => {};

/** Sends the head and this much of the body, and then nothing more, for ever. */
export function stall(status: number, begun = '{"'): Behaviour {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
    response.write(begun);
  };
}

/** Promises a longer body than it sends, then closes the connection. */
export function truncated(status: number, body: string): Behaviour {
  return (response) => {
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body) + 1),
    });
    response.write(body, () => response.socket?.destroy());
  };
}

/** Starts a chunked body and closes the connection before the last chunk. */
export function truncatedChunks(status: number, body: string): Behaviour {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.write(body, () => response.socket?.destroy());
  };
}

/** Sends the bytes as the answer, whatever HTTP says, and closes the connection. */
export function rawBytes(bytes: string): Behaviour {
  return (response) => {
    response.socket?.end(bytes);
  };
}

/** Sends the head at once and then a byte of a body every 20 ms, for ever. */
export const dripBody: Behaviour = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  drip(response, () => response.write(' '));
};

/** Sends a byte of a head every 20 ms, for ever. */
export const dripHead: Behaviour = (response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nX-Drip: ');
  drip(response, () => socket?.write('.'));
};

/** Applies the behaviour to requests on a reused connection and leaves the others to the other. */
export function onReuse(behaviour: Behaviour, otherwise: Behaviour): Behaviour {
  return (response, call) => {
    (call.requestOnConnection > 1 ? behaviour : otherwise)(response, call);
  };
}

function drip(response: Parameters<Behaviour>[0], write: () => void): void {
  const timer = setInterval(write, 20);
  response.on('close', () => clearInterval(timer));
}
