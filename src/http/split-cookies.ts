import type { FailureCode } from '../failures/relay-error.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context } from './context.ts';
import { type CookieWriter, readCookies } from './cookie-writer.ts';

/** Characters in a piece. With the longest name, browsers still accept the cookie: 4096 bytes. */
export const pieceLength = 3800;
const endings = ['', '.1', '.2'];
/** Characters of the longest text that fits. */
const longestSplit = endings.length * pieceLength;

/** The names of the cookies that hold the pieces of one text. */
const pieceNames = (name: string): readonly string[] => endings.map((ending) => name + ending);

/**
 * A text in a cookie that is cut into pieces if it is long: `<name>`, `<name>.1` and `<name>.2`.
 *
 * @param tooLarge the failure of a text that does not fit
 */
export function splitCookies({ set }: Pick<CookieWriter, 'set'>, tooLarge: FailureCode) {
  return {
    /**
     * Sets a cookie, and clears the pieces that it no longer needs.
     *
     * @throws {RelayError} `tooLarge`, before any cookie is set
     */
    set(ctx: Context, name: string, text: string, maxAge: number): void {
      if (text.length > longestSplit) throw new RelayError(tooLarge);
      for (const [index, piece] of pieceNames(name).entries()) {
        const part = text.slice(index * pieceLength, (index + 1) * pieceLength);
        set(ctx, piece, part, part === '' ? 0 : maxAge);
      }
    },
    /**
     * The text in a cookie.
     *
     * @returns undefined if there is none, if a piece is missing, or if a name is there twice: a sibling
     *   domain may have set one of them
     */
    get(ctx: Context, name: string): string | undefined {
      const cookies = readCookies(ctx);
      const values = pieceNames(name).map((piece) => cookies.get(piece) ?? []);
      const count = values.findLastIndex((pieces) => pieces.length > 0) + 1;
      if (count === 0 || values.some((pieces) => pieces.length > 1)) return undefined;
      const pieces = values.slice(0, count).map(([piece = '']) => piece);
      const last = pieces.at(-1) ?? '';
      const areFull = pieces.slice(0, -1).every((piece) => piece.length === pieceLength);
      return areFull && last !== '' && last.length <= pieceLength ? pieces.join('') : undefined;
    },
    clear(ctx: Context, name: string): void {
      for (const piece of pieceNames(name)) set(ctx, piece, '', 0);
    },
  };
}
