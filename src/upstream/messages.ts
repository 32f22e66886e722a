import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Method } from 'got';
import type { FailureCode } from '../errors.ts';
import type { Endpoint, Holder } from './room.ts';

/** A request to one of the provider's endpoints. */
export interface UpstreamRequest {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
}

/** The provider's response. The body is empty if only the status arrived intact. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** A request to the provider's API whose body is streamed. */
export interface StreamedRequest {
  readonly holder: Holder;
  readonly method: Method;
  readonly url: URL;
  /** Without those that frame the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: the request has no body. */
  readonly upload: Upload | undefined;
  /** Aborts if the client hangs up. */
  readonly clientGone: AbortSignal;
}

/** A body that is sent while it arrives, so it can be sent only once. */
export interface Upload {
  readonly content: Readable;
  readonly length: number | undefined;
}

/** A response of the provider's API whose body is streamed. */
export interface StreamedResponse extends Omit<UpstreamResponse, 'body'> {
  /** Its bytes as the API sent them, compressed or not. It fails with a `RelayError` if it breaks off. */
  readonly body: Readable;
}

/** The result of one call, as a log may know of it. */
export interface UpstreamCall {
  readonly endpoint: Endpoint;
  readonly outcome: 'answered' | FailureCode;
  /** The provider's status, if it answered. */
  readonly status?: number;
  /** The error code of the system or of TLS, such as `ECONNREFUSED`. */
  readonly error?: string;
  readonly durationMs: number;
}

/**
 * Called with every call once it has ended. A call that is refused as `overloaded` is not observed at all.
 *
 * @param isSent whether the provider may have seen a byte of the request. If not, what it would have spent is unspent
 */
export type ObserveCall = (call: UpstreamCall, isSent: boolean) => void;
