import { setTimeout as wait } from 'node:timers/promises';
import { RelayError } from '../failures/relay-error.ts';
import { DiscoveryError } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';

/** Milliseconds that the start of the relay waits for the first attempt. */
const firstWait = 2_000;
const shortestRetry = 1_000;
const longestRetry = 60_000;
const refreshInterval = 3_600_000;

/** The provider as far as it is known. Requests never wait for it. */
export interface ProviderSource {
  /** @throws {RelayError} as {@link whyMissing} says, until discovery has succeeded once */
  current(): Provider;
  /** Why `current` throws; undefined if it does not. */
  whyMissing(): MissingProvider | undefined;
  close(): void;
}

/** Why there is no provider: it is not discovered yet, or its metadata say that no login can work there. */
type MissingProvider = 'provider_undiscovered' | 'provider_unsupported';

/** The result of an attempt at discovery, as the log shows it. */
export type DiscoveryAttempt =
  | { readonly outcome: 'discovered' }
  | {
      readonly outcome: 'failed';
      readonly reason: string;
      readonly explanation: string;
      /** The error code of the system or of TLS, if the connection failed. */
      readonly error: string | undefined;
      /** Milliseconds until the next attempt. */
      readonly retryIn: number;
    };

/** The source of a provider that the configuration describes completely. */
export function fixedProvider(provider: Provider): ProviderSource {
  return { current: () => provider, whyMissing: () => undefined, close: () => {} };
}

/**
 * Discovers a provider in the background. Failed attempts are repeated after growing pauses of up to a minute, and
 * discovery is repeated every hour. The last result stays valid while the issuer is down.
 *
 * @param observe called after every attempt
 * @param known the last result of an earlier source for the same provider
 * @returns the source after the first attempt, or after two seconds
 */
export async function startDiscovery(
  discover: () => Promise<Provider>,
  observe: (attempt: DiscoveryAttempt) => void,
  known?: Provider,
): Promise<ProviderSource> {
  let provider = known;
  let missing: MissingProvider = 'provider_undiscovered';
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let retryIn = shortestRetry;

  /** Makes an attempt at discovery, and schedules the next one. */
  async function attemptDiscovery(): Promise<void> {
    let delay = refreshInterval;
    try {
      provider = await discover();
      retryIn = shortestRetry;
      observe({ outcome: 'discovered' });
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error;
      const { reason, explanation, code } = error;
      missing = reason === 'unsupported' ? 'provider_unsupported' : 'provider_undiscovered';
      delay = retryIn;
      retryIn = Math.min(retryIn * 2, longestRetry);
      observe({ outcome: 'failed', reason, explanation, error: code, retryIn: delay });
    }
    if (!closed) timer = setTimeout(attemptDiscovery, delay).unref();
  }

  // A provider that is down must not prevent the relay from starting.
  await Promise.race([attemptDiscovery(), wait(firstWait, undefined, { ref: false })]);
  return {
    current() {
      if (provider === undefined) throw new RelayError(missing);
      return provider;
    },
    whyMissing: () => (provider === undefined ? missing : undefined),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/**
 * Returns a function that computes a value from the provider, and anew only after discovery has returned another one.
 */
export function cacheByProvider<Value>(source: ProviderSource, derive: (provider: Provider) => Value): () => Value {
  let cached: { readonly provider: Provider; readonly value: Value } | undefined;
  return () => {
    const provider = source.current();
    if (cached?.provider !== provider) cached = { provider, value: derive(provider) };
    return cached.value;
  };
}
