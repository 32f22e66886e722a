import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import got, { RequestError } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { createConnectionPool, type ProxyEnvironment } from './connection-pool.ts';

const abortGrace = 100;

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
  /** How many calls are being made right now. */
  underWay(): number;
  /** Closes the pooled connections. */
  close(): void;
}

type Outcome =
  | { readonly answer: ProviderAnswer }
  | { readonly failure: FailureCode; readonly error?: string };
/** Why the relay itself ended a call. */
type Ending = 'provider_answer_unusable' | 'provider_timeout' | 'client_gone';
type Attempt = Outcome | 'died_while_idle';

/**
 * Makes the client that all calls of a relay share.
 *
 * @param within.timeout milliseconds that a whole call may take, body included
 * @param proxy which proxy to go through, and for which hosts not to
 * @param within.concurrentCalls calls that may be under way; further ones are refused, never queued
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
    responseType: 'buffer',
  });
  let underWay = 0;

  async function attempt(
    request: ProviderRequest,
    abort: AbortController,
    agents: typeof pool.pooled,
  ): Promise<Attempt> {
    let clientRequest: ClientRequest | undefined;
    try {
      const answer = await instance(request.url, {
        method: request.method,
        headers: request.headers,
        signal: abort.signal,
        agent: agents,
        ...(request.body !== undefined && { body: request.body }),
      })
        .on('request', (sent) => {
          clientRequest = sent;
        })
        .on('downloadProgress', ({ transferred }) => {
          if (transferred > limits.providerAnswerSize)
            abort.abort('provider_answer_unusable' satisfies Ending);
        });
      // The provider had given up waiting on a kept connection. @see RFC 9110 §15.5.9
      const unheard = answer.statusCode === 408 && clientRequest && pool.reused(clientRequest);
      if (unheard) return 'died_while_idle';
      return {
        answer: { status: answer.statusCode, headers: answer.headers, body: answer.rawBody },
      };
    } catch (error) {
      // The error of got holds the whole request, secret and code included: it ends here.
      if (clientRequest && pool.diedWhileIdle(clientRequest, error)) return 'died_while_idle';
      // RFC 6749 and the lookup judge by the status: once it is known, a broken body changes nothing.
      const response = error instanceof RequestError ? error.response : undefined;
      if (response !== undefined && response.statusCode !== 200) {
        const { statusCode: status, headers } = response;
        return { answer: { status, headers, body: new Uint8Array() } };
      }
      const ending: Ending | undefined = abort.signal.reason;
      if (ending !== undefined) return { failure: ending };
      return {
        failure: 'provider_unreachable',
        ...(error instanceof RequestError && { error: error.code }),
      };
    }
  }

  async function attempts(request: ProviderRequest, abort: AbortController): Promise<Outcome> {
    await pool.settled();
    const first = await attempt(request, abort, pool.pooled);
    if (first !== 'died_while_idle') return first;
    const second = await attempt(request, abort, pool.unpooled);
    return second === 'died_while_idle' ? { failure: 'provider_unreachable' } : second;
  }

  /** Ends a call at its deadline or when it is given up, whatever it waits for. */
  async function whileAwaited(request: ProviderRequest): Promise<Outcome> {
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const ended = new Promise<Outcome>((resolve) => {
      const end = (failure: Ending) => {
        clearTimeout(timer);
        abort.abort(failure);
        // An aborted call still tells the status it may have got. One that has no connection yet, as
        // behind a silent proxy, would keep its caller waiting.
        timer = setTimeout(resolve, abortGrace, { failure });
      };
      timer = setTimeout(end, within.timeout, 'provider_timeout' satisfies Ending);
      request.signal?.addEventListener('abort', () => end('client_gone'), { once: true });
    });
    return Promise.race([attempts(request, abort), ended]).finally(() => clearTimeout(timer));
  }

  return {
    async call(request, observe) {
      const start = performance.now();
      const { endpoint } = request;
      if (underWay >= within.concurrentCalls) {
        observe({ endpoint, outcome: 'overloaded', durationMs: 0 });
        throw new RelayError('overloaded');
      }
      underWay += 1;
      const result = await whileAwaited(request).finally(() => {
        underWay -= 1;
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
    underWay: () => underWay,
    close: pool.close,
  };
}
