import { type Clock, clockSkew, secondsOf } from '../clock.ts';

/** Days for which something that is sealed can be good at most, whatever the configuration says. */
export const longestDays = { session: 400, refreshToken: 3650, clientId: 400 } as const;

/**
 * Whether a relay can have issued something that is good for a time. What is sealed with a stolen key can hold any time: it
 * must not be good for longer than what the relay seals.
 *
 * @param from when it was issued, in seconds since 1970
 * @param until when it ends
 * @param longest seconds for which it can be good
 */
export function isPossible(from: number, until: number, longest: number, now: Clock): boolean {
  return from <= secondsOf(now) + clockSkew && until <= from + longest;
}
