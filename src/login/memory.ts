import { createAccessMemory } from '../access/access.ts';
import { createRequestCount } from '../http/rate-limit.ts';
import type { Home } from '../memory/home.ts';
import { counted } from '../memory/kinds.ts';
import { createLasting } from '../memory/recent.ts';
import { createExchanges } from './exchanges.ts';
import { createRefusalLimit } from './refusal-limit.ts';

/** What a process remembers of logins. A reload of the configuration keeps it. */
export type LoginMemory = ReturnType<typeof createLoginMemory>;

export function createLoginMemory(home: Home) {
  return {
    now: home.now,
    access: createAccessMemory(home),
    exchanges: createExchanges(home),
    /** The access tokens that providers have issued or accepted within the last hour, by `hashKey`. */
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
    /** Counts what a client address makes the relay do for open clients, for ten minutes. */
    countNewClient: createRequestCount(home, counted.newClients),
    /** The same for pages of all origins together. */
    countAllNewClients: createRequestCount(home, counted.allNewClients),
    /** Counts the exchanges and refreshes of each client address, refused or not, for ten minutes. */
    countExchange: createRequestCount(home, counted.exchanges),
  };
}
