import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Method } from 'got';
import type { Holder } from './room.ts';

/** A request to the provider's API whose body is streamed. */
export interface StreamedRequest {
  readonly holder: Holder;
  readonly method: Method;
  readonly url: URL;
  /** Without those that frame the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: the request has no body. */
  readonly upload: { readonly content: Readable; readonly length: number | undefined } | undefined;
  /** Aborts if the client hangs up. */
  readonly clientGone: AbortSignal;
}

/** A response of the provider's API whose body is streamed. */
export interface StreamedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Its bytes as the API sent them, compressed or not. It fails with a `RelayError` if it breaks off. */
  readonly body: Readable;
}

const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** The headers that frame the body. @see RFC 9112 §6 */
export function framing({ method, upload }: StreamedRequest): Record<string, string> {
  if (upload?.length !== undefined) return { 'content-length': String(upload.length) };
  if (upload !== undefined) return { 'transfer-encoding': 'chunked' };
  return method === 'GET' || method === 'HEAD' ? {} : { 'content-length': '0' };
}

/** Whether a response has no body, whatever its headers say. @see RFC 9112 §6.3 */
export function isBodiless(method: Method, status: number): boolean {
  return method === 'HEAD' || statusesWithoutBody.has(status);
}
