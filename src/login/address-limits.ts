import type { IncomingMessage } from 'node:http';
import { createClientAddresses } from '../http/client-address.ts';
import { limits } from '../limits.ts';
import type { LoginMemory } from './memory.ts';
import type { createRefusalLimit } from './refusal-limit.ts';

/**
 * Exchanges and refreshes that one address may make for each allowed refusal. With the default of 10 refusals, it may
 * make 300 in ten minutes.
 */
const exchangesPerRefusal = 30;
const tooManyExchanges =
  'Too many logins and refreshes come from this address. Nothing is lost: try again after ten minutes at most.';
const tooManySecrets = 'Too many wrong secrets come from this address. A right one still works.';
const tooManyNew = 'Too many new clients come from this address. Nothing is lost: try again after ten minutes at most.';

/**
 * Limits what one client address can make the relay do. An unknown address has no limit, because a proxy may share it
 * among all clients.
 */
export type AddressLimits = ReturnType<typeof createAddressLimits>;

/** @param settings.refusedExchanges the most refusals of one address in ten minutes; 0 sets no limit */
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
  const { clientNetworkUnlessProxy } = createClientAddresses(trustedProxies, behindUnknownProxy);

  /** Counts an exchange or a refresh. @throws {RelayError} `rate_limited` */
  async function countExchange(address: string | undefined): Promise<void> {
    if (address === undefined) return;
    await memory.countExchange(address, exchangesPerRefusal * mostRefused, tooManyExchanges);
  }

  /**
   * Creates a function that makes a call, unless too many calls of this kind from the same address were refused.
   *
   * It takes the address, without which there is no limit; `call`, which learns whether it is limited; and `group`, so
   * that each group of calls from an address has a count of its own.
   */
  const createLimit =
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
  const limitRefusedExchanges = createLimit(memory.refusedExchanges);

  return {
    /** The address of a caller to charge; undefined if it may be a proxy's, or refusals have no limit. */
    addressOf: (request: IncomingMessage) => (mostRefused === 0 ? undefined : clientNetworkUnlessProxy(request)),
    /**
     * Runs an exchange, unless its address has made too many exchanges, or too many of these were refused. While the
     * exchanges in flight could still reach the limit of refusals, it waits.
     *
     * @throws {RelayError} `too_many_refusals` or `rate_limited`
     */
    limitExchange: <Result>(address: string | undefined, exchange: () => Promise<Result>): Promise<Result> =>
      limitRefusedExchanges(address, async () => {
        await countExchange(address);
        return await exchange();
      }),
    /** Has a count of its own, so that logouts with expired tokens do not keep an address from logging in. */
    limitRevocation: createLimit(memory.refusedRevocations),
    limitLookup: createLimit(memory.refusedLookups),
    /**
     * Counts a refresh together with the exchanges. A refused refresh needs no limit, because nobody can make up a
     * sealed refresh token.
     *
     * @throws {RelayError} `rate_limited`
     */
    countRefresh: countExchange,
    /** Counts a wrong secret of a server or machine. @throws {RelayError} `rate_limited` */
    async countWrongSecret(request: IncomingMessage): Promise<void> {
      const address = clientNetworkUnlessProxy(request);
      if (mostRefused === 0 || address === undefined) return;
      await memory.countWrongSecret(address, mostRefused, tooManySecrets);
    },
    ...createClientLimits(clientNetworkUnlessProxy, memory, rateLimit !== undefined),
  };
}

/**
 * Limits what unregistered clients make the relay do.
 *
 * @param hasRateLimit whether a rate limit already counts registrations
 */
function createClientLimits(
  clientNetworkUnlessProxy: ReturnType<typeof createClientAddresses>['clientNetworkUnlessProxy'],
  memory: LoginMemory,
  hasRateLimit: boolean,
) {
  const countNewClient = (key: string) => memory.countNewClient(key, limits.newClients, tooManyNew);

  /**
   * The key under which a fetch of a client document is counted; undefined if the address is unknown. Starts that a
   * page of another site causes have a key of their own, so that a hostile page which sends its visitors to starts does
   * not use up the fetches of their own programs.
   */
  function fetchCountKeyOf(request: IncomingMessage): string | undefined {
    const address = clientNetworkUnlessProxy(request);
    const { 'sec-fetch-site': site = 'none' } = request.headers;
    const isCausedByPage = site === 'cross-site' || site === 'same-site';
    return address === undefined || !isCausedByPage ? address : `${address} page`;
  }

  /**
   * Counts the registration of a client. Each origin has a count of its own, so that one page cannot use up the
   * registrations of another. All origins together have one more count, because anybody can own thousands of origins.
   * Programs have no origin.
   */
  async function countRegistration(request: IncomingMessage): Promise<void> {
    const address = clientNetworkUnlessProxy(request);
    if (address === undefined) return;
    const { origin } = request.headers;
    await countNewClient(`${address} ${origin ?? ''}`);
    if (origin === undefined) return;
    await memory.countAllNewClients(address, 10 * limits.newClients, tooManyNew);
  }

  return {
    fetchCountKeyOf,
    /** Counts a fetch under its key. @throws {RelayError} `rate_limited` */
    countFetch: countNewClient,
    countRegistration: hasRateLimit ? async () => {} : countRegistration,
  };
}
