import type { FailureCode } from '../failures/relay-error.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context } from './context.ts';
import { type CookieWriter, readCookies } from './cookie-writer.ts';

/** Characters in a piece. Even with the longest name, the cookie stays below the 4096 bytes that browsers accept. */
export const pieceLength = 3800;
const endings = ['', '.1', '.2'];
const longestSplit = endings.length * pieceLength;

const pieceNames = (name: string): readonly string[] => endings.map((ending) => name + ending);

/**
 * A text in a cookie, which is split into pieces if it is long: `<name>`, `<name>.1` and `<name>.2`.
 *
 * @param tooLarge the failure if the text does not fit
 */
export function splitCookies({ set }: Pick<CookieWriter, 'set'>, tooLarge: FailureCode) {
  return {
    /**
     * Sets the pieces, and clears those that are no longer needed.
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
     * Reads the text.
     *
     * @returns undefined if it is absent, if a piece is missing, or if a name comes twice, because a sibling domain may
     *   have planted one of them
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
