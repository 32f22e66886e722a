import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { cookieWriter, readCookies } from '../http/cookie-writer.ts';

/** Characters in a piece. With the longest name, browsers still accept the cookie: 4096 bytes. */
export const pieceLength = 3800;
const endings = ['', '.1', '.2'];

/** The cookies of sessions. A long text is cut into pieces: `<name>`, `<name>.1` and `<name>.2`. */
export function createSessionCookies(secure: boolean) {
  const { prefix, set } = cookieWriter('session', secure, 'strict');
  const namesOf = (frontEnd: string): string[] => endings.map((ending) => prefix + frontEnd + ending);

  return {
    /**
     * Sets the cookie of a front end, and clears the pieces that it no longer needs.
     *
     * @throws {RelayError} `session_too_large`, before any cookie is set
     */
    set(ctx: Context, frontEnd: string, text: string, maxAge: number): void {
      if (text.length > endings.length * pieceLength) throw new RelayError('session_too_large');
      for (const [index, name] of namesOf(frontEnd).entries()) {
        const piece = text.slice(index * pieceLength, (index + 1) * pieceLength);
        set(ctx, name, piece, piece === '' ? 0 : maxAge);
      }
    },
    /**
     * The text in the cookie of a front end.
     *
     * @returns undefined if there is none, if a piece is missing, or if a name is there twice: a sibling
     *   domain may have set one of them
     */
    get(ctx: Context, frontEnd: string): string | undefined {
      const cookies = readCookies(ctx);
      const values = namesOf(frontEnd).map((name) => cookies.get(name) ?? []);
      const count = values.findLastIndex((pieces) => pieces.length > 0) + 1;
      if (count === 0 || values.some((pieces) => pieces.length > 1)) return undefined;
      const pieces = values.slice(0, count).map(([piece = '']) => piece);
      const last = pieces.at(-1) ?? '';
      const areFull = pieces.slice(0, -1).every((piece) => piece.length === pieceLength);
      return areFull && last !== '' && last.length <= pieceLength ? pieces.join('') : undefined;
    },
    /** Whether the request has a piece of the cookie of any of these front ends. */
    hasAny(ctx: Context, frontEnds: { has(frontEnd: string): boolean }): boolean {
      // The time must not grow with the number of front ends.
      for (const name of readCookies(ctx).keys()) {
        if (!name.startsWith(prefix)) continue;
        if (frontEnds.has(name.slice(prefix.length).replace(/\.[12]$/, ''))) return true;
      }
      return false;
    },
    clear(ctx: Context, frontEnd: string): void {
      for (const name of namesOf(frontEnd)) set(ctx, name, '', 0);
    },
  };
}
