import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connectionOptions } from './passed-headers.ts';

type Headers = Readonly<Record<string, string>>;

const version = '13';
/** 16 bytes as Base64. @see RFC 6455 §4.1 */
const keyForm = /^[A-Za-z0-9+/]{22}==$/;
/** The text that a server appends to the key, to show that it speaks WebSocket. @see RFC 6455 §1.3 */
const suffixOfKey = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * Whether a request opens a WebSocket, and asks for nothing else. An upgrade to `h2c`, or a body, could contain a
 * request that the relay does not check (request smuggling).
 *
 * @see RFC 6455 §4.2.1
 */
export function opensWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    upgradesToWebSocket(headers) &&
    headers['sec-websocket-version'] === version &&
    keyForm.test(headers['sec-websocket-key'] ?? '') &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

/** The headers of a request for a WebSocket, besides those of any request. */
export function handshakeRequestHeaders(headers: IncomingHttpHeaders): Headers {
  return { connection: 'Upgrade', upgrade: 'websocket', ...webSocketHeaders(headers) };
}

/**
 * Whether the head of a 101 answers the key of the request. A server that switches to another protocol could take the
 * bytes of a client for requests that the relay has not checked.
 *
 * @see RFC 6455 §4.2.2
 */
export function acceptsWebSocket(headers: IncomingHttpHeaders, key: string): boolean {
  // The RFC prescribes SHA-1, which does not have to protect anything here.
  const accepted = createHash('sha1').update(`${key}${suffixOfKey}`).digest('base64');
  return upgradesToWebSocket(headers) && headers['sec-websocket-accept'] === accepted;
}

/** The headers of a server's answer that the client of a WebSocket needs, besides those of any answer. */
export function handshakeResponseHeaders(headers: IncomingHttpHeaders, isOpen: boolean): Headers {
  return { ...(isOpen && { connection: 'Upgrade', upgrade: 'websocket' }), ...webSocketHeaders(headers) };
}

/** Whether headers request or grant an upgrade to WebSocket, and to nothing else. */
function upgradesToWebSocket(headers: IncomingHttpHeaders): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && connectionOptions(headers).has('upgrade');
}

/**
 * The headers of WebSocket, such as extensions and subprotocols, which client and server agree on without the relay.
 */
function webSocketHeaders(headers: IncomingHttpHeaders): Headers {
  const pairs = Object.entries(headers).filter(([name]) => name.startsWith('sec-websocket-'));
  return Object.fromEntries(pairs.map(([name, value]) => [name, [value].flat().join(', ')]));
}
