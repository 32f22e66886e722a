import type { Context } from '../http/context.ts';
import { createCookieWriter, readCookies } from '../http/cookies.ts';
import { createSplitCookies } from '../http/split-cookies.ts';

/** The cookies that hold sessions, one or several pieces for each front end. */
export function createSessionCookies(secure: boolean) {
  const writer = createCookieWriter('session', secure, 'strict');
  const { prefix } = writer;
  const cookies = createSplitCookies(writer, 'session_too_large');

  return {
    /** @param maxAge seconds @throws {RelayError} `session_too_large`, before any cookie is set */
    set: (ctx: Context, frontEnd: string, text: string, maxAge: number): void =>
      cookies.set(ctx, prefix + frontEnd, text, maxAge),
    /** The text in the cookie of a front end; undefined if it is absent or incomplete, or comes twice. */
    get: (ctx: Context, frontEnd: string): string | undefined => cookies.get(ctx, prefix + frontEnd),
    /** Whether the request has the session cookie of any of these front ends, or a piece of it. */
    hasAny(ctx: Context, frontEnds: { has(frontEnd: string): boolean }): boolean {
      // A loop over the front ends would take longer the more there are.
      for (const name of readCookies(ctx).keys()) {
        if (!name.startsWith(prefix)) continue;
        // The second and the third piece of a session end with `.1` and `.2`.
        const frontEnd = name.slice(prefix.length).replace(/\.[12]$/, '');
        if (frontEnds.has(frontEnd)) return true;
      }
      return false;
    },
    clear: (ctx: Context, frontEnd: string): void => cookies.clear(ctx, prefix + frontEnd),
  };
}
