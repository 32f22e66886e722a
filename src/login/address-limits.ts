import type { IncomingMessage } from 'node:http';
import { callersBehind } from '../http/subscriber.ts';
import { limits } from '../limits.ts';
import type { LoginMemory } from './memory.ts';
import type { createRefusalLimit } from './refusal-limit.ts';

/** An address may make so many exchanges and refreshes for each that may be refused: by default 300 in ten minutes. */
const exchangesPerRefusal = 30;
const tooManyExchanges =
  'Too many logins and refreshes come from this address. Nothing is lost: try again after ten minutes at most.';
const tooManySecrets = 'Too many wrong secrets come from this address. A right one still works.';
const tooManyNew = 'Too many new clients come from this address. Nothing is lost: try again after ten minutes at most.';

/** The limits of what one client address makes the relay do. Undefined addresses, which are not known, have none. */
export type AddressLimits = ReturnType<typeof createAddressLimits>;

/** @param settings.refusedExchanges the most from one address in ten minutes; 0: what is refused has no limit */
export function createAddressLimits(
  settings: {
    readonly refusedExchanges: number;
    readonly rateLimit: number | undefined;
    readonly trustedProxies: readonly string[];
    readonly behindUnknownProxy: boolean;
  },
  memory: LoginMemory,
) {
  const { refusedExchanges: mostRefused, rateLimit, trustedProxies, behindUnknownProxy } = settings;
  const { ownSubscriberOf } = callersBehind(trustedProxies, behindUnknownProxy);

  async function countExchange(address: string | undefined): Promise<void> {
    if (address === undefined) return;
    await memory.countExchange(address, exchangesPerRefusal * mostRefused, tooManyExchanges);
  }

  /** Limits calls by the refused ones of an address. The calls of a `group` are counted apart from all others. */
  const limitBy =
    (refusals: ReturnType<typeof createRefusalLimit>) =>
    async <Result>(
      address: string | undefined,
      call: (isLimited: boolean) => Promise<Result>,
      group?: string,
    ): Promise<Result> => {
      if (address === undefined) return await call(false);
      const key = group === undefined ? address : `${group} ${address}`;
      return await refusals.limit(key, mostRefused, () => call(true));
    };
  const limitRefusedExchange = limitBy(memory.refusedExchanges);

  const countNew = (key: string) => memory.countNewClient(key, limits.newClients, tooManyNew);

  /**
   * The key under which fetches of client documents are counted: the address; undefined: it is not known. Any page can
   * send its visitors to a start. Such starts have another key, so that they do not use up the person's own fetches.
   */
  function fetchCountKeyOf(request: IncomingMessage): string | undefined {
    const address = ownSubscriberOf(request);
    const { 'sec-fetch-site': site = 'none' } = request.headers;
    const isOfPage = site === 'cross-site' || site === 'same-site';
    return address === undefined || !isOfPage ? address : `${address} page`;
  }

  /**
   * Counts the registration of a client. Each origin has a count of its own: one page must not use up that of others.
   * All origins together have another count, because anybody can have thousands. Programs have no origin.
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
    /** The address of a caller, if it is known to be its own, and if what is refused has a limit. */
    addressOf: (request: IncomingMessage) => (mostRefused === 0 ? undefined : ownSubscriberOf(request)),
    /**
     * Runs an exchange, unless its address has made too many, or the provider has refused too many of them.
     * Waits while exchanges in flight may still reach the limit of refused ones.
     *
     * @throws {RelayError} `too_many_refusals` or `rate_limited`
     */
    limitExchange: <Result>(address: string | undefined, exchange: () => Promise<Result>): Promise<Result> =>
      limitRefusedExchange(address, async () => {
        await countExchange(address);
        return await exchange();
      }),
    /** Limits a revocation by its own count: log-outs with dead tokens must not keep an address from logging in. */
    limitRevocation: limitBy(memory.refusedRevocations),
    /** Limits a user lookup by its own count. */
    limitLookup: limitBy(memory.refusedLookups),
    /**
     * Counts a refresh at the provider with the exchanges. Refused refreshes have no limit: a refresh token cannot be
     * made up.
     *
     * @throws {RelayError} `rate_limited`
     */
    countRefresh: countExchange,
    /** Counts a wrong secret of a server that introspects. @throws {RelayError} `rate_limited` */
    async countWrongSecret(request: IncomingMessage): Promise<void> {
      const address = ownSubscriberOf(request);
      if (mostRefused === 0 || address === undefined) return;
      await memory.countWrongSecret(address, mostRefused, tooManySecrets);
    },
    fetchCountKeyOf,
    /** Counts the fetch of a client's document, by its key. @throws {RelayError} `rate_limited` */
    countFetch: countNew,
    // A configured rate limit counts registrations already.
    countRegistration: rateLimit === undefined ? countRegistration : async () => {},
  };
}
