import type { IncomingMessage } from 'node:http';
import { createAccessMemory } from '../access/access.ts';
import { createRequestCount } from '../http/rate-limit.ts';
import { callersBehind } from '../http/subscriber.ts';
import { limits } from '../limits.ts';
import type { Home } from '../memory/home.ts';
import { counted } from '../memory/kinds.ts';
import { createLasting } from '../memory/recent.ts';
import { createExchanges } from './exchanges.ts';
import { createRefusalLimit } from './refusal-limit.ts';

/** What a process remembers of logins. A reload of the configuration keeps it. */
export type LoginMemory = ReturnType<typeof createLoginMemory>;

export function createLoginMemory(home: Home) {
  return {
    access: createAccessMemory(home),
    exchanges: createExchanges(home),
    /** The access tokens that providers have issued or accepted within the last hour, by `keyOf`. */
    goodTokens: createLasting<true>(4096, home.now),
    refusedExchanges: createRefusalLimit(
      home,
      counted.refusedExchanges,
      'The provider refused too many logins from this address. Start the login again',
    ),
    /** Access tokens that the provider did not know when they were revoked. */
    refusedRevocations: createRefusalLimit(home, counted.refusedRevocations),
    refusedLookups: createRefusalLimit(home, counted.refusedLookups),
    /** Counts the wrong secrets of each client address, for ten minutes. */
    countWrongSecret: createRequestCount(home, counted.wrongSecrets),
    /** Counts what a client address makes the relay do for clients that nobody registered, for ten minutes. */
    countNewClient: createRequestCount(home, counted.newClients),
    /** The same for pages of all origins together. */
    countAllNewClients: createRequestCount(home, counted.allNewClients),
    /** Counts the exchanges and refreshes of each client address, refused or not, for ten minutes. */
    countExchange: createRequestCount(home, counted.exchanges),
  };
}

/** Exchanges and refreshes of a client for each that may be refused. By default 300 in ten minutes: fewer than GitHub's 2,000 an hour. */
const exchangesPerRefusal = 30;
const tooManyExchanges =
  'Too many logins and refreshes come from this address. Nothing is lost: try again after ten minutes at most.';
const tooManySecrets = 'Too many wrong secrets come from this address. A right one still works.';
const tooManyNew =
  'Too many new clients come from this address. Nothing is lost: try again after ten minutes at most.';

/** The limits of what one client address makes the relay do. */
export type AddressLimits = ReturnType<typeof createAddressLimits>;

/** @param settings.refusedExchanges the most from one address in ten minutes; 0: what is refused has no limits */
export function createAddressLimits(
  settings: {
    readonly refusedExchanges: number;
    readonly rateLimit: number | undefined;
    readonly trustedProxies: readonly string[];
    readonly behindUnknownProxy: boolean;
  },
  memory: LoginMemory,
) {
  const { refusedExchanges: most, rateLimit, trustedProxies, behindUnknownProxy } = settings;
  const { ownSubscriberOf } = callersBehind(trustedProxies, behindUnknownProxy);

  async function countExchange(address: string | undefined): Promise<void> {
    if (address === undefined) return;
    await memory.countExchange(address, exchangesPerRefusal * most, tooManyExchanges);
  }

  /** Says to the call whether it is limited. */
  const limit =
    (refusals: LoginMemory['refusedLookups']) =>
    async <Result>(
      address: string | undefined,
      call: (isLimited: boolean) => Promise<Result>,
      group?: string,
    ): Promise<Result> => {
      if (address === undefined) return await call(false);
      const key = group === undefined ? address : `${group} ${address}`;
      return await refusals.limit(key, most, () => call(true));
    };
  const limitRefusedExchange = limit(memory.refusedExchanges);

  const countNew = (key: string) => memory.countNewClient(key, limits.newClients, tooManyNew);

  /** A page of anybody can send its visitors to a start. So those have a key of their own. */
  function fetcherOf(request: IncomingMessage): string | undefined {
    const address = ownSubscriberOf(request);
    const { 'sec-fetch-site': site = 'none' } = request.headers;
    const isOfPage = site === 'cross-site' || site === 'same-site';
    return address === undefined || !isOfPage ? address : `${address} page`;
  }

  /**
   * Each origin has a count: a page of anybody must not use up that of the others. All of them have one, too, because
   * they cost nothing. Programs have no origin.
   */
  async function countRegistration(request: IncomingMessage): Promise<void> {
    const address = ownSubscriberOf(request);
    if (address === undefined) return;
    const { origin } = request.headers;
    await countNew(`${address} ${origin ?? ''}`);
    if (origin === undefined) return;
    await memory.countAllNewClients(address, 10 * limits.newClients, tooManyNew);
  }

  return {
    /** The address of a client, if it is known to be its own, and if what is refused has limits. */
    addressOf: (request: IncomingMessage) => (most === 0 ? undefined : ownSubscriberOf(request)),
    /**
     * Runs an exchange, unless this client has made too many, or the provider has refused too many of them.
     * Waits while exchanges in flight may still reach the limit of refused ones.
     *
     * @throws {RelayError} `too_many_refusals` or `rate_limited`
     */
    limitExchange: <Result>(
      address: string | undefined,
      exchange: () => Promise<Result>,
    ): Promise<Result> =>
      limitRefusedExchange(address, async () => {
        await countExchange(address);
        return await exchange();
      }),
    /** Limits a revocation in the same way. Log-outs with dead tokens must not keep an address from logging in. */
    limitRevocation: limit(memory.refusedRevocations),
    /** Limits a user lookup in the same way. */
    limitLookup: limit(memory.refusedLookups),
    /**
     * Counts a refresh at the provider with the exchanges. Refused ones have no limit: nobody can make up a refresh
     * token.
     *
     * @throws {RelayError} `rate_limited`
     */
    countRefresh: countExchange,
    /** Counts a wrong secret of a server that introspects. @throws {RelayError} `rate_limited` */
    async countWrongSecret(request: IncomingMessage): Promise<void> {
      const address = ownSubscriberOf(request);
      if (most === 0 || address === undefined) return;
      await memory.countWrongSecret(address, most, tooManySecrets);
    },
    /** Who counts for the fetch of a client's document; undefined: it is not known. */
    fetcherOf,
    /** Counts the fetch of a client's document. @throws {RelayError} `rate_limited` */
    countFetch: countNew,
    /** Counts a registration of a client. A configured rate limit counts registrations already, but no starts of logins. */
    countRegistration: rateLimit === undefined ? countRegistration : async () => {},
  };
}
