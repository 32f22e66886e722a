import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import { closeLingering } from '../http/body.ts';
import { securityHeaders } from '../http/response-headers.ts';

/** A request that was answered without ever reaching the application. */
export interface UnreadableRequest {
  readonly requestId: string;
  readonly status: number;
  readonly outcome: FailureCode;
}

/** The failure of each reason; any other reason is a bad request. */
const failures: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  // The relay is no proxy.
  CONNECT: 'not_found',
  pipelined_too_many: 'pipelined_too_many',
  chunks_too_small: 'chunks_too_small',
};

/**
 * Answers a request that Node does not pass to the application, and closes its socket.
 *
 * @param reason the error code of Node or its HTTP parser, the method `CONNECT`, or a failure
 */
export function answerUnreadableRequest(reason: string, socket: Socket): UnreadableRequest {
  const { code, status, detail, headers: own } = new RelayError(failures[reason] ?? 'bad_request');
  const requestId = randomUUID();
  const body = JSON.stringify({ detail });
  const headers = {
    ...securityHeaders,
    ...own,
    'X-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  closeLingering(socket);
  return { requestId, status, outcome: code };
}
