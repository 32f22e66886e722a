import type { Context } from '../http/context.ts';
import { cookieWriter, readCookies } from '../http/cookie-writer.ts';
import { splitCookies } from '../http/split-cookies.ts';

export function createSessionCookies(secure: boolean) {
  const writer = cookieWriter('session', secure, 'strict');
  const { prefix } = writer;
  const cookies = splitCookies(writer, 'session_too_large');

  return {
    /** @throws {RelayError} `session_too_large`, before any cookie is set */
    set: (ctx: Context, frontEnd: string, text: string, maxAge: number): void =>
      cookies.set(ctx, prefix + frontEnd, text, maxAge),
    /** The text in the cookie of a front end, as {@link splitCookies} reads it. */
    get: (ctx: Context, frontEnd: string): string | undefined => cookies.get(ctx, prefix + frontEnd),
    /** Whether the request has a piece of a cookie of any of these front ends. */
    hasAny(ctx: Context, frontEnds: { has(frontEnd: string): boolean }): boolean {
      // Loops over the cookies, so that the time does not grow with the number of front ends.
      for (const name of readCookies(ctx).keys()) {
        if (!name.startsWith(prefix)) continue;
        if (frontEnds.has(name.slice(prefix.length).replace(/\.[12]$/, ''))) return true;
      }
      return false;
    },
    clear: (ctx: Context, frontEnd: string): void => cookies.clear(ctx, prefix + frontEnd),
  };
}
