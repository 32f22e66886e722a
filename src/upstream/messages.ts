import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Method } from 'got';
import type { FailureCode } from '../failures/relay-error.ts';
import type { Endpoint } from './concurrency.ts';
import type { CountedTransfer, Holder } from './counted-transfers.ts';

/** A request to an endpoint of the provider. */
export interface UpstreamRequest {
  readonly endpoint: Endpoint;
  readonly method: Method;
  readonly url: string | URL;
  /** Without the headers that frame the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether a status needs a complete body, so that the call fails if the body breaks off (default: 200). */
  readonly needsBody?: (status: number) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A request to the provider's API, or to a server behind the gateway. Both bodies are streamed. */
export interface StreamedRequest extends Pick<UpstreamRequest, 'method' | 'url' | 'headers'> {
  readonly body?: Uint8Array | Upload | undefined;
  readonly holder: Holder & Pick<CountedTransfer, 'isListening'>;
  /** The destination of the response's body. If it closes early, the call ends as well. */
  readonly client: Writable;
  /** Set if the request opens a WebSocket. */
  readonly webSocket?: WebSocketOpening | undefined;
  /** Ends the call to make room for another one (default: the response breaks off). */
  readonly evict?: (() => void) | undefined;
}

/** The parts of a request that are needed to open a WebSocket. */
export interface WebSocketOpening {
  /** The connection of `client`, which begins to speak WebSocket once the client has the head of the 101. */
  readonly connection: Duplex;
  readonly key: string;
}

/** A body that is sent while it arrives. So it cannot be sent again in another attempt. */
interface Upload {
  readonly content: Readable;
  readonly length: number | undefined;
}

/** The provider's response. The body is empty if only the status arrived intact. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/**
 * A response whose body can be sent to the client, compressed or not, or skipped. The body of a 101 is the WebSocket.
 */
export interface StreamedResponse extends Omit<UpstreamResponse, 'body'> {
  /** Whether there may be a body. Without one, the call is over. */
  readonly hasBody: boolean;
  /** Writes the body to the client while it arrives. If the body breaks off, it ends with a `RelayError`. */
  send(): void;
  /** Reads the rest of the body for a moment, without sending it to the client. */
  discard(): Promise<void>;
}

/** The result of one call, as far as a log may know it. */
export interface UpstreamCall {
  readonly endpoint: Endpoint;
  readonly outcome: 'answered' | FailureCode;
  readonly status?: number;
  /** The error code of the system or of TLS, such as `ECONNREFUSED`. */
  readonly error?: string;
  readonly durationMs: number;
}

/**
 * Called after every call, unless it was refused as `overloaded`.
 *
 * @param isSent whether the provider may have seen a byte of the request. If not, its code or token is unspent
 */
export type ObserveCall = (call: UpstreamCall, isSent: boolean) => void;
