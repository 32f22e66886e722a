import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import { closeLingering } from '../http/body.ts';
import { securityHeaders } from '../http/response-headers.ts';

/** A request that was answered without the server's listener, such as one that is not valid HTTP. */
export interface UnreadableRequest {
  readonly requestId: string;
  readonly status: number;
  readonly outcome: FailureCode;
}

/** The failures of the reasons that have their own. Any other reason is a bad request. */
const failures: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  // The relay is not a proxy.
  CONNECT: 'not_found',
  pipelined_too_many: 'pipelined_too_many',
  chunks_too_small: 'chunks_too_small',
  ERR_SSL_HTTP_REQUEST: 'tls_missing',
};

/** Milliseconds after which a client may repeat its pipelined requests. */
const retryTime = 1_000;

/** The first bytes of connections with other protocols than HTTP/1, each as a character. */
const otherProtocols: readonly (readonly [beginning: string, failure: FailureCode])[] = [
  // A handshake of TLS. @see RFC 8446 §5.1
  ['\x16\x03', 'tls_unexpected'],
  // Versions 1 and 2 of HAProxy's proxy-protocol.txt.
  ['PROXY ', 'proxy_protocol_unexpected'],
  ['\r\n\r\n\0\r\nQUIT\n', 'proxy_protocol_unexpected'],
  // @see RFC 9113 §3.4
  ['PRI * HTTP/2', 'http2_unexpected'],
];

/** The failures of connections with another protocol than the port's, because something in front is misconfigured. */
export const protocolFailures: ReadonlySet<FailureCode> = new Set([
  'tls_missing',
  ...otherProtocols.map(([, failure]) => failure),
]);

/** Chooses the failure for a reason, or for the protocol with whose first bytes the request begins. */
function chooseFailure(reason: string, bytes: Buffer | undefined): FailureCode {
  const known = failures[reason];
  if (known !== undefined) return known;
  const received = bytes?.toString('latin1', 0, 20) ?? '';
  const [, failure] = otherProtocols.find(([beginning]) => received.startsWith(beginning)) ?? [];
  return failure ?? 'bad_request';
}

/**
 * Answers a request that Node.js does not pass to the listener, and closes its socket.
 *
 * @param reason the error code of Node.js or its HTTP parser, the method `CONNECT`, or a failure
 * @param bytes the bytes that the parser refused
 */
export function answerUnreadableRequest(reason: string, socket: Socket, bytes?: Buffer): UnreadableRequest {
  const retryIn = reason === 'pipelined_too_many' ? retryTime : undefined;
  const { code, status, detail, headers: ownHeaders } = new RelayError(chooseFailure(reason, bytes), { retryIn });
  const requestId = randomUUID();
  const body = JSON.stringify({ detail });
  const headers = {
    ...securityHeaders,
    ...ownHeaders,
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
