import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import got, { type Got, type RequestError, type Response } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { createConnectionPool, type ProxyEnvironment } from './connection-pool.ts';
import { openRequest } from './open-request.ts';

/** What of the provider is called. */
type Endpoint = 'authorize' | 'token' | 'user' | 'metadata';

/** A request to one of the provider's endpoints. */
export interface ProviderRequest {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST';
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Gives the call up, where nobody awaits its answer any more. */
  readonly signal?: AbortSignal;
}

/** What the provider answered. The body is empty where the status alone arrived whole. */
export interface ProviderAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** How one call went: what a log may know of it. */
export interface ProviderCall {
  readonly endpoint: Endpoint;
  readonly outcome: 'answered' | FailureCode;
  /** The provider's status, where it answered. */
  readonly status?: number;
  /** The system's or TLS's code of what went wrong on the way, such as `ECONNREFUSED`. */
  readonly error?: string;
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
   *   (over 1 MiB, decompressed), `overloaded` or `client_gone` (given up), never an error that knows the request
   */
  call(request: ProviderRequest, observe: ObserveCall): Promise<ProviderAnswer>;
  /**
   * Checks for room before anything is spent on a call: one that is made in the same turn is not
   * refused.
   *
   * @throws {RelayError} `overloaded`
   */
  expectRoom(endpoint: Endpoint): void;
  /** How many calls are being made right now. */
  underWay(): number;
  /** Closes the pooled connections. */
  close(): void;
}

type Outcome =
  | { readonly answer: ProviderAnswer }
  | { readonly failure: FailureCode; readonly error?: string };
type Attempt = Outcome | 'died_while_idle';
type Head = Pick<Response, 'statusCode' | 'headers'>;

const lookupShare = 3 / 4;

/**
 * Makes the client that all calls of a relay share.
 *
 * @param within.timeout milliseconds that a whole call may take, body included
 * @param proxy which proxy to go through, and for which hosts not to
 * @param within.concurrentCalls calls that may be in flight; further ones are refused, never queued.
 *   User lookups get three quarters of them, so that logins always find room.
 */
export function createProviderClient(
  userAgent: string,
  within: { readonly timeout: number; readonly concurrentCalls: number },
  proxy: ProxyEnvironment = {},
): ProviderClient {
  const pool = createConnectionPool(within.concurrentCalls, proxy);
  const instance = got.extend({
    headers: {
      'user-agent': userAgent,
      accept: 'application/json',
      'accept-encoding': 'identity',
    },
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    request: openRequest,
  });
  const pooled = instance.extend({ agent: pool.pooled });
  const unpooled = instance.extend({ agent: pool.unpooled });
  const mostLookups = Math.ceil(within.concurrentCalls * lookupShare);
  let underWay = 0;
  let lookups = 0;

  function expectRoom(endpoint: Endpoint): void {
    const full = underWay >= within.concurrentCalls;
    if (full || (endpoint === 'user' && lookups >= mostLookups)) throw new RelayError('overloaded');
  }

  /** @param deadline of `performance.now()`, at which the attempt ends, whatever it waits for */
  function attempt(by: Got, request: ProviderRequest, deadline: number): Promise<Attempt> {
    const left = deadline - performance.now();
    // A machine that stood still may find the deadline passed: nobody awaits what would be spent.
    if (left <= 0) return Promise.resolve({ failure: 'provider_timeout' });
    return new Promise((resolve) => {
      const { url, method, headers, body = '', signal } = request;
      // The stream costs half of what the promise does, and can be left at any time.
      const stream = by.stream(url, { method, headers: { ...headers, ...lengthOf(method, body) } });
      // got itself would end the request a turn after its body: where the answer has come by then, it
      // drops the connection, answer or not.
      if (method === 'POST') stream.end(body);
      const chunks: Buffer[] = [];
      let size = 0;
      let response: Head | undefined;
      let clientRequest: ClientRequest | undefined;

      const end = (result: Attempt) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        resolve(result);
      };
      const fail = (failure: Attempt) => {
        // RFC 6749 and the lookup judge by the status: once it is known, a broken body changes nothing.
        const known = response !== undefined && response.statusCode !== 200;
        stream.destroy();
        end(known ? answered(response, []) : failure);
      };
      const giveUp = () => fail({ failure: 'client_gone' });
      const timer = setTimeout(fail, left, { failure: 'provider_timeout' });
      stream.on('request', (sent: ClientRequest) => {
        clientRequest = sent;
        // Node hands such a connection over, and nothing else comes of the request. @see RFC 9110 §15.2.2
        sent.once('upgrade', ({ headers: answered }: IncomingMessage, connection: Duplex) => {
          connection.destroy();
          response = { statusCode: 101, headers: answered };
          fail({ failure: 'provider_unreachable' });
        });
      });
      stream.on('response', (received: Response) => {
        response = received;
      });
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > limits.providerAnswerSize) fail({ failure: 'provider_answer_unusable' });
      });
      stream.on('end', () => {
        // The provider had given up waiting on a kept connection. @see RFC 9110 §15.5.9
        const unheard = response?.statusCode === 408 && clientRequest && pool.reused(clientRequest);
        end(unheard ? 'died_while_idle' : answered(response, chunks));
      });
      signal?.addEventListener('abort', giveUp);
      if (signal?.aborted) giveUp();
      // The error of got holds the whole request, secret and code included: it ends here.
      stream.on('error', (error: RequestError) => {
        const died = clientRequest !== undefined && pool.diedWhileIdle(clientRequest, error);
        if (died) end('died_while_idle');
        else fail({ failure: 'provider_unreachable', error: error.code });
      });
    });
  }

  async function attempts(request: ProviderRequest, deadline: number): Promise<Outcome> {
    await pool.settled();
    const first = await attempt(pooled, request, deadline);
    if (first !== 'died_while_idle') return first;
    const second = await attempt(unpooled, request, deadline);
    return second === 'died_while_idle' ? { failure: 'provider_unreachable' } : second;
  }

  return {
    async call(request, observe) {
      const start = performance.now();
      const { endpoint } = request;
      expectRoom(endpoint);
      const isLookup = endpoint === 'user' ? 1 : 0;
      underWay += 1;
      lookups += isLookup;
      const result = await attempts(request, start + within.timeout).finally(() => {
        underWay -= 1;
        lookups -= isLookup;
      });
      const durationMs = performance.now() - start;
      if ('answer' in result) {
        observe({ endpoint, outcome: 'answered', status: result.answer.status, durationMs });
        return result.answer;
      }
      const { failure, ...why } = result;
      observe({ endpoint, outcome: failure, ...why, durationMs });
      throw new RelayError(failure);
    },
    expectRoom,
    underWay: () => underWay,
    close: pool.close,
  };
}

function answered(response: Head | undefined, chunks: readonly Buffer[]): Outcome {
  if (response === undefined) return { failure: 'provider_unreachable' };
  const { statusCode: status, headers } = response;
  return { answer: { status, headers, body: Buffer.concat(chunks) } };
}

function lengthOf(method: ProviderRequest['method'], body: string): Record<string, string> {
  return method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
}
