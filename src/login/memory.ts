import { createAccessMemory } from '../access/access.ts';
import { createRequestLimit } from '../http/rate-limit.ts';
import { createExpiringMap } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { counted } from '../memory/kinds.ts';
import { createExchanges } from './exchanges.ts';
import { createRefusalLimit } from './refusal-limit.ts';

/** The memory of a process for logins. It survives a reload of the configuration. */
export type LoginMemory = ReturnType<typeof createLoginMemory>;

/** @param home the process, with the server that relays share, if there is one */
export function createLoginMemory(home: Home) {
  return {
    now: home.now,
    access: createAccessMemory(home),
    exchanges: createExchanges(home),
    /** The access tokens that providers issued or accepted within the last hour, by `hashKey`. */
    goodTokens: createExpiringMap<true>(4096, home.now),
    refusedExchanges: createRefusalLimit(
      home,
      counted.refusedExchanges,
      'The provider refused too many logins from this address. Start the login again',
    ),
    refusedRevocations: createRefusalLimit(home, counted.refusedRevocations),
    refusedLookups: createRefusalLimit(home, counted.refusedLookups),
    countWrongSecret: createRequestLimit(home, counted.wrongSecrets),
    countNewClient: createRequestLimit(home, counted.newClients),
    countAllNewClients: createRequestLimit(home, counted.allNewClients),
    countExchange: createRequestLimit(home, counted.exchanges),
  };
}
