import type { ClientRequest } from 'node:http';
import got, { RequestError, TimeoutError } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { createConnectionPool } from './connection-pool.ts';

const longestAnswer = 1024 * 1024;

/** A request to one of the provider's endpoints. */
export interface ProviderRequest {
  readonly endpoint: 'token' | 'user';
  readonly method: 'GET' | 'POST';
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What the provider answered. The body is empty where the status alone arrived whole. */
export interface ProviderAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/** How one call went: what a log may know of it. */
export interface ProviderCall {
  readonly endpoint: 'token' | 'user';
  readonly outcome: 'answered' | FailureCode;
  /** The provider's status, where it answered. */
  readonly status?: number;
  readonly durationMs: number;
}

/** Told of every call once it has ended. */
export type ObserveCall = (call: ProviderCall) => void;

/** Calls the provider, within limits of time, size and number. */
export interface ProviderClient {
  /**
   * Makes one call. Redirects are not followed: a 3xx is an answer like any other.
   *
   * @throws {RelayError} `provider_unreachable`, `provider_timeout`, `provider_answer_unusable`
   *   (over 1 MiB, decompressed) or `overloaded`, never an error that knows the request
   */
  call(request: ProviderRequest, observe: ObserveCall): Promise<ProviderAnswer>;
  /** Closes the pooled connections. */
  close(): void;
}

/**
 * Makes the client that all calls of a relay share.
 *
 * @param limits.timeout milliseconds that a whole call may take, body included
 * @param limits.concurrentCalls calls that may be under way; further ones are refused, never queued
 */
export function createProviderClient(
  userAgent: string,
  limits: { readonly timeout: number; readonly concurrentCalls: number },
): ProviderClient {
  const pool = createConnectionPool(limits.concurrentCalls);
  const instance = got.extend({
    agent: pool.pooled,
    headers: {
      'user-agent': userAgent,
      accept: 'application/json',
      'accept-encoding': 'identity',
    },
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    responseType: 'buffer',
  });
  let underWay = 0;

  async function send(request: ProviderRequest, deadline: number, fresh: boolean) {
    const abort = new AbortController();
    let clientRequest: ClientRequest | undefined;
    try {
      const answer = await instance(request.url, {
        method: request.method,
        headers: request.headers,
        timeout: { request: Math.max(1, deadline - performance.now()) },
        signal: abort.signal,
        ...(request.body !== undefined && { body: request.body }),
        ...(fresh && { agent: pool.unpooled }),
      })
        .on('request', (sent) => {
          clientRequest = sent;
        })
        .on('downloadProgress', ({ transferred }) => {
          if (transferred > longestAnswer) abort.abort();
        });
      return { status: answer.statusCode, body: answer.rawBody };
    } catch (error) {
      if (!fresh && clientRequest && pool.diedWhileIdle(clientRequest, error)) return undefined;
      // RFC 6749 and the lookup judge by the status: once it is known, a broken body changes nothing.
      const status = error instanceof RequestError ? error.response?.statusCode : undefined;
      if (status !== undefined && status !== 200) return { status, body: new Uint8Array() };
      // The error of got holds the whole request, secret and code included: it ends here.
      if (abort.signal.aborted) throw new RelayError('provider_answer_unusable');
      if (error instanceof TimeoutError) throw new RelayError('provider_timeout');
      throw new RelayError('provider_unreachable');
    }
  }

  return {
    async call(request, observe) {
      const start = performance.now();
      const end = (outcome: ProviderCall['outcome'], status?: number) =>
        observe({
          endpoint: request.endpoint,
          outcome,
          ...(status !== undefined && { status }),
          durationMs: performance.now() - start,
        });
      if (underWay >= limits.concurrentCalls) {
        end('overloaded');
        throw new RelayError('overloaded');
      }
      underWay += 1;
      try {
        const deadline = start + limits.timeout;
        const answer =
          (await send(request, deadline, false)) ?? (await send(request, deadline, true));
        if (answer === undefined) throw new RelayError('provider_unreachable');
        end('answered', answer.status);
        return answer;
      } catch (error) {
        end(error instanceof RelayError ? error.code : 'internal_error');
        throw error;
      } finally {
        underWay -= 1;
      }
    },
    close: pool.close,
  };
}
