import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** An answer or a fault that does not depend on the request. It can be the behaviour of an endpoint, or a page. */
export type Reply = (response: ServerResponse) => void;

/** Answers with exactly this status, body and these headers. */
export function answer(
  status: number,
  body: string | Buffer = '',
  headers: OutgoingHttpHeaders = { 'Content-Type': 'application/json' },
): Reply {
  return (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

/** Answers with the value as JSON. */
export function json(value: unknown, status = 200, headers: OutgoingHttpHeaders = {}): Reply {
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  return answer(status, JSON.stringify(value), { ...type, ...headers });
}

/** Answers with an HTML page. */
export function html(status: number, body: string): Reply {
  const page = `<!doctype html><html><body>${body}</body></html>`;
  return answer(status, page, { 'Content-Type': 'text/html; charset=utf-8' });
}

/** Answers with a redirect. */
export function redirect(location: string, status = 302): Reply {
  return answer(status, '', { Location: location });
}

/** Resets the connection (RST) without a byte of an answer. */
export const reset: Reply = (response) => {
  response.socket?.resetAndDestroy();
};

/** Closes the connection (FIN) without a byte of an answer. */
export const hangUp: Reply = (response) => {
  response.socket?.destroy();
};

/** Accepts the request and never answers. */
export const silence: Reply = () => {};

/** Sends the headers and this much of the body, and then nothing more. */
export function stall(status: number, begun = '{"'): Reply {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
    response.write(begun);
  };
}

/** Announces a longer body than it sends, then closes the connection. */
export function truncated(status: number, body: string): Reply {
  return brokenOff(status, body, { 'Content-Length': Buffer.byteLength(body) + 1 });
}

/** Starts a chunked body and closes the connection before the last chunk. */
export const truncatedChunks = brokenOff;

function brokenOff(status: number, body: string, headers: OutgoingHttpHeaders = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.write(body, () => response.socket?.destroy());
  };
}

/** Sends the bytes as the answer, even if they are not valid HTTP, and closes the connection. */
export function rawBytes(bytes: string): Reply {
  return (response) => {
    response.socket?.end(bytes);
  };
}

/** Sends a byte of a header every 20 ms without end. */
export const dripHead: Reply = (response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nX-Drip: ');
  const timer = setInterval(() => socket?.write('.'), 20);
  response.on('close', () => clearInterval(timer));
};
