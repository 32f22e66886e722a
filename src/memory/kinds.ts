import { hash } from 'node:crypto';
import { clockSkew } from '../clock.ts';
import { times } from '../times.ts';

/** A kind of entries. */
export interface Kind {
  /** The name of the kind in the shared memory. */
  readonly letter: string;
  /** Milliseconds. Undefined if each entry has its own. */
  readonly lifetime?: number;
  /** The most entries in a process. */
  readonly most: number;
}

const refreshGrace = times.refreshGrace * 1000;
const countTime = times.count * 1000;
/** Seconds for which a spent code is remembered after it has ended at every relay. */
const margin = 10;

/** Everything except counts that relays share if they share a server. */
export const kinds = {
  /** DPoP proofs that were used. A proof may be ahead of this clock, and is then valid for twice the time. */
  usedProofs: { letter: 'p', lifetime: (2 * times.proof + 1) * 1000, most: 65_536 },
  /** Assertions of machines that were used, until each ends. That is at most five minutes and twice the clock skew. */
  usedAssertions: { letter: 'j', most: 65_536 },
  /** The provider's codes in redeemed codes of the relay, for longer than these can be valid at any relay. */
  redeemedCodes: { letter: 'c', lifetime: (times.code.native + clockSkew + margin) * 1000, most: 16_384 },
  /** The provider's answers to redeemed codes whose front end has got no answer, until the code expires. */
  keptAnswers: { letter: 'k', most: 4096 },
  /** Plain logins whose exchange has begun, for as long as a state is valid at any relay. */
  exchanges: { letter: 'x', lifetime: (times.login + clockSkew) * 1000, most: 16_384 },
  /** The results of these exchanges, for the relays that wait. */
  exchangeResults: { letter: 'y', lifetime: 2_000, most: 0 },
  /** The results of refreshes that the provider answered with another refresh token, or with a refusal. */
  refreshResults: { letter: 'r', lifetime: refreshGrace, most: 4096 },
  /** Refresh tokens that are about to be revoked. From then on, their results are not repeated. */
  endedRefreshes: { letter: 'e', lifetime: refreshGrace, most: 4096 },
  /** The newest generation of each login, until its last refresh token expires. */
  generations: { letter: 'g', most: 16_384 },
  /** Logins that were revoked at the provider. */
  revocations: { letter: 'v', lifetime: 60_000, most: 4096 },
  /** Logins that have ended, until their last access token ends. */
  endedLogins: { letter: 'o', most: 16_384 },
  /** Sessions that were logged out, until their latest end. */
  logouts: { letter: 'l', most: 16_384 },
} as const satisfies Record<string, Kind>;

/** A count for each client address. */
export interface Counted {
  readonly name: string;
  /** Milliseconds after which a count restarts. */
  readonly lifetime: number;
}

/** The requests that are counted. */
export const counted = {
  requests: { name: 'requests', lifetime: 60_000 },
  exchanges: { name: 'exchanges', lifetime: countTime },
  refusedExchanges: { name: 'exchange', lifetime: countTime },
  refusedLookups: { name: 'lookup', lifetime: countTime },
  refusedRevocations: { name: 'revocation', lifetime: countTime },
  /** Wrong secrets of servers that introspect, and wrong secrets or assertions of machines. */
  wrongSecrets: { name: 'wrong secrets', lifetime: countTime },
  /** Registrations and fetched documents of unregistered clients. */
  newClients: { name: 'new clients', lifetime: countTime },
  /** Registrations by pages of any origin. */
  allNewClients: { name: 'all new clients', lifetime: countTime },
} as const satisfies Record<string, Counted>;

const prefix = 'login-relay:1';
/** The key on which relays try each command. */
export const probeName = `${prefix}:probe`;

/**
 * The key of an entry in the shared memory, which does not reveal `key`. Commands use one key each, as a Cluster
 * requires.
 */
export function hashSharedName(letter: string, key: string): string {
  return `${prefix}:${letter}:${hash('sha256', key, 'base64url')}`;
}

/** The key of a counter in the shared memory. @param bucket what `hashToCounter` returns */
export const counterName = ({ name }: Counted, bucket: string) => hashSharedName('n', `${name} ${bucket}`);
