import type { FailureCode } from '../errors.ts';
import type { Endpoint } from './room.ts';

/** The result of one call. Without `sent`, it is what a log may know of it. */
export interface UpstreamCall {
  readonly endpoint: Endpoint;
  readonly outcome: 'answered' | FailureCode;
  /**
   * Whether the provider may have seen a byte of the request. If not, what the request would have spent
   * is unspent. A call that is refused as `overloaded` is not observed at all.
   */
  readonly sent: boolean;
  /** The provider's status, if it answered. */
  readonly status?: number;
  /** The error code of the system or of TLS, such as `ECONNREFUSED`. */
  readonly error?: string;
  readonly durationMs: number;
}

/** Called with every call once it has ended. */
export type ObserveCall = (call: UpstreamCall) => void;
