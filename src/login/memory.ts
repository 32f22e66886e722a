import type { IncomingMessage } from 'node:http';
import { createAccessMemory } from '../access/access.ts';
import { clientsBehind } from '../http/client-address.ts';
import { createRequestCount } from '../http/rate-limit.ts';
import { limits } from '../limits.ts';
import type { Home } from '../memory/home.ts';
import { createLasting } from '../recent.ts';
import { createExchanges } from './exchanges.ts';
import { createRefusedExchanges } from './refused-exchanges.ts';

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
    /** Counts the exchanges and refreshes of each client address, refused or not, for ten minutes. */
    countExchange: createRequestCount(home, 'exchanges', 600),
  };
}

/** Exchanges and refreshes of a client for each that may be refused. By default 300 in ten minutes: fewer than GitHub's 2,000 an hour. */
const exchangesPerRefusal = 30;
const tooManyExchanges =
  'Too many logins and refreshes come from this address. Nothing is lost: try again after ten minutes at most.';
const tooManyNew =
  'Too many new clients come from this address. Nothing is lost: try again after ten minutes at most.';

/** The limits of what one client address makes the relay do. */
export type ClientLimits = ReturnType<typeof createClientLimits>;

/** @param settings.refusedExchanges the most from one address in ten minutes; 0: what is refused has no limits */
export function createClientLimits(
  settings: {
    readonly refusedExchanges: number;
    readonly rateLimit: number | undefined;
    readonly trustedProxies: readonly string[];
    readonly behindUnknownProxy: boolean;
  },
  memory: LoginMemory,
) {
  const { refusedExchanges: most, rateLimit, trustedProxies, behindUnknownProxy } = settings;
  const { ownKeyOf } = clientsBehind(trustedProxies, behindUnknownProxy);

  const limitedKeyOf = (request: IncomingMessage) => (most === 0 ? undefined : ownKeyOf(request));
  const countExchange = (address: string) =>
    memory.countExchange(address, exchangesPerRefusal * most, tooManyExchanges);

  /** Says to the call whether it is limited. */
  function limit(refusals: LoginMemory['refusedLookups'], count?: typeof countExchange) {
    return async <Result>(
      request: IncomingMessage,
      call: (isLimited: boolean) => Promise<Result>,
    ): Promise<Result> => {
      const address = limitedKeyOf(request);
      if (address === undefined) return await call(false);
      return await refusals.limit(address, most, async () => {
        await count?.(address);
        return await call(true);
      });
    };
  }

  async function countNew(request: IncomingMessage): Promise<void> {
    const address = ownKeyOf(request);
    if (address !== undefined) await memory.countNewClient(address, limits.newClients, tooManyNew);
  }

  return {
    /**
     * Runs an exchange, unless this client has made too many, or the provider has refused too many of them.
     * Waits while exchanges in flight may still reach the limit of refused ones.
     *
     * @throws {RelayError} `too_many_refusals` or `rate_limited`
     */
    limitExchange: limit(memory.refusedExchanges, countExchange),
    /**
     * Counts a refresh at the provider with the exchanges. Refused ones have no limit: nobody can make up a refresh
     * token.
     *
     * @throws {RelayError} `rate_limited`
     */
    async countRefresh(request: IncomingMessage): Promise<void> {
      const address = limitedKeyOf(request);
      if (address !== undefined) await countExchange(address);
    },
    /** The same for a revocation. Log-outs with dead tokens must not keep an address from logging in. */
    limitRevocation: limit(memory.refusedRevocations),
    /** The same for a user lookup. */
    limitLookup: limit(memory.refusedLookups),
    /** Counts the fetch of a client's document. @throws {RelayError} `rate_limited` */
    countFetch: countNew,
    /** The same for a registration. A configured rate limit counts registrations already, but no starts of logins. */
    countRegistration: rateLimit === undefined ? countNew : async () => {},
  };
}
