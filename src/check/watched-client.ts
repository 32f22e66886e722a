import type { ProviderAnswer, ProviderCall, ProviderClient } from '../upstream/client.ts';

/** A client that remembers how its last call went, and what time the provider has. */
export interface WatchedClient extends ProviderClient {
  /** How the last call went. */
  lastCall(): ProviderCall | undefined;
  /** The last answer. */
  lastAnswer(): ProviderAnswer | undefined;
  /** Milliseconds by which this machine's clock is ahead, if an answer told the time. */
  clockAhead(): number | undefined;
}

/** @param now milliseconds since 1970 */
export function watched(client: ProviderClient, now: () => number): WatchedClient {
  let call: ProviderCall | undefined;
  let answer: ProviderAnswer | undefined;
  let ahead: number | undefined;
  return {
    async call(request, observe) {
      answer = await client.call(request, (seen) => {
        call = seen;
        observe(seen);
      });
      const theirs = Date.parse(answer.headers.date ?? '');
      if (!Number.isNaN(theirs)) ahead = now() - theirs;
      return answer;
    },
    expectRoom: client.expectRoom,
    underWay: client.underWay,
    close: client.close,
    lastCall: () => call,
    lastAnswer: () => answer,
    clockAhead: () => ahead,
  };
}
