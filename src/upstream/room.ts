import { RelayError } from '../errors.ts';

/** The endpoint of the provider that a call is for. `api` is the provider's API, which pages use through the relay. */
export type Endpoint = 'authorize' | 'token' | 'user' | 'metadata' | 'revocation' | 'api';

/** The room for calls: how many may be in flight. */
export interface Room {
  /** @throws {RelayError} `overloaded` if there is no room for another call */
  expect(endpoint: Endpoint): void;
  /**
   * Takes the room of one call.
   *
   * @returns gives it back; call it once
   * @throws {RelayError} `overloaded`
   */
  take(endpoint: Endpoint): () => void;
  /** The number of calls in flight. */
  inFlight(): number;
}

/** Calls that share a part of the room. The rest is left to all others. */
const parts: readonly { readonly of: readonly Endpoint[] | 'all'; readonly share: number }[] = [
  { of: 'all', share: 1 },
  // Anyone can cause these at any rate. Logins always find room.
  { of: ['user', 'revocation', 'api'], share: 3 / 4 },
  // These take as long as their readers. User lookups always find room.
  { of: ['api'], share: 1 / 2 },
];

/** @param most calls that may be in flight; further ones are refused, never queued */
export function createRoom(most: number): Room {
  const counted = parts.map(({ of, share }) => ({ of, most: Math.ceil(most * share), now: 0 }));
  const countersOf = (endpoint: Endpoint) =>
    counted.filter(({ of }) => of === 'all' || of.includes(endpoint));

  function expect(endpoint: Endpoint): void {
    const isFull = countersOf(endpoint).some((counter) => counter.now >= counter.most);
    if (isFull) throw new RelayError('overloaded');
  }
  return {
    expect,
    take(endpoint) {
      expect(endpoint);
      const counters = countersOf(endpoint);
      for (const counter of counters) counter.now += 1;
      return () => {
        for (const counter of counters) counter.now -= 1;
      };
    },
    inFlight: () => counted[0]?.now ?? 0,
  };
}
