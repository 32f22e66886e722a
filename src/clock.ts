/** The time in milliseconds since 1970, as from `Date.now`. */
export type Clock = () => number;

/** The time in whole seconds since 1970. */
export function nowInSeconds(now: Clock): number {
  return Math.floor(now() / 1000);
}

/** Seconds by which the clocks of relays, providers and machines may differ. */
export const clockSkew = 60;

/** Milliseconds since a moment on the clock of `performance`, with two decimals. */
export function elapsedSince(start: number): number {
  return Math.round((performance.now() - start) * 100) / 100;
}
