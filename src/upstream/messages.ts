import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from './room.ts';

/** A request to one of the provider's endpoints. */
export interface UpstreamRequest {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** The provider's response. The body is empty if only the status arrived intact. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}
