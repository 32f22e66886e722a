import type { IncomingMessage } from 'node:http';
import { createAccessMemory } from '../access/access.ts';
import { type CountRequest, createRequestCount, ownAddressBehind } from '../http/rate-limit.ts';
import { limits } from '../limits.ts';
import type { Home } from '../memory/home.ts';
import { createLasting } from '../recent.ts';
import { createExchanges } from './exchanges.ts';
import { createRefusedExchanges, type RefusedExchanges } from './refused-exchanges.ts';

/** What a process remembers of logins. A reload of the configuration keeps it. */
export type LoginMemory = ReturnType<typeof createLoginMemory>;

export function createLoginMemory(home: Home) {
  return {
    access: createAccessMemory(home),
    exchanges: createExchanges(home),
    /** The access tokens that providers have issued or accepted within the last hour, by `keyOf`. */
    goodTokens: createLasting<true>(4096, home.now),
    refusedExchanges: createRefusedExchanges(
      home,
      'exchange',
      'The provider refused too many logins from this address. Start the login again',
    ),
    /** Access tokens that the provider did not know when they were revoked. */
    refusedRevocations: createRefusedExchanges(home, 'revocation'),
    refusedLookups: createRefusedExchanges(home, 'lookup'),
    /** Counts what a client address makes the relay do for clients that nobody registered, for ten minutes. */
    countNewClient: createRequestCount(home, 'new clients', 600),
    /** Counts the exchanges of each client address, refused or not, for ten minutes. */
    countExchange: createRequestCount(home, 'exchanges', 600),
  };
}

/** Exchanges of a client for each that may be refused. By default 300 in ten minutes: fewer than GitHub's 2,000 an hour. */
const exchangesPerRefusal = 30;
const tooManyExchanges =
  'Too many logins come from this address. Nothing is lost: try again after ten minutes at most.';

/** Says to the call whether it is limited. */
type Limit = <Result>(
  request: IncomingMessage,
  call: (isLimited: boolean) => Promise<Result>,
) => Promise<Result>;

/** The limits of what the provider refuses to a client. */
export type RefusalLimits = ReturnType<typeof refusalLimits>;

/** @param settings.refusedExchanges the most from one address in ten minutes; 0: there are no limits */
export function refusalLimits(
  settings: {
    readonly refusedExchanges: number;
    readonly trustedProxies: readonly string[];
    readonly behindUnknownProxy: boolean;
  },
  memory: LoginMemory,
) {
  const { refusedExchanges: most, trustedProxies, behindUnknownProxy } = settings;
  const ownAddressOf = ownAddressBehind(trustedProxies);
  const limit = (refusals: RefusedExchanges, count?: CountRequest): Limit => {
    if (most === 0 || behindUnknownProxy) return (_request, call) => call(false);
    return (request, call) => {
      const address = ownAddressOf(request);
      if (address === undefined) return call(false);
      return refusals.limit(address, most, async () => {
        await count?.(address, exchangesPerRefusal * most, tooManyExchanges);
        return await call(true);
      });
    };
  };
  return {
    /** Also limits the exchanges that are not refused. */
    exchange: limit(memory.refusedExchanges, memory.countExchange),
    revocation: limit(memory.refusedRevocations),
    lookup: limit(memory.refusedLookups),
  };
}

/**
 * Limits fetches of documents, and registrations, by client address. A configured rate limit counts registrations already,
 * but no starts of logins.
 *
 * @returns each throws `rate_limited`
 */
export function newClientLimit(
  settings: {
    readonly rateLimit: number | undefined;
    readonly trustedProxies: readonly string[];
    readonly behindUnknownProxy: boolean;
  },
  { countNewClient }: LoginMemory,
) {
  const ownAddressOf = ownAddressBehind(settings.trustedProxies);
  const count = async (request: IncomingMessage): Promise<void> => {
    const address = settings.behindUnknownProxy ? undefined : ownAddressOf(request);
    if (address !== undefined) await countNewClient(address, limits.newClients, tooManyNew);
  };
  const isCounted = settings.rateLimit !== undefined;
  return { countFetch: count, countRegistration: isCounted ? async () => {} : count };
}

const tooManyNew =
  'Too many new clients come from this address. Nothing is lost: try again after ten minutes at most.';
