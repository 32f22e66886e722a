import type { FailureCode } from '../failures/relay-error.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context } from './context.ts';
import { type CookieWriter, readCookies } from './cookies.ts';

/** Characters in a piece. Even with the longest name, the cookie stays below the 4096 bytes that browsers accept. */
export const pieceLength = 3800;
const suffixes = ['', '.1', '.2'];
const longestSplit = suffixes.length * pieceLength;

const pieceNames = (name: string): readonly string[] => suffixes.map((ending) => name + ending);

/**
 * Creates functions for a text in a cookie, which is split into pieces if it is long: `<name>`, `<name>.1`, `<name>.2`.
 *
 * @param tooLarge the failure if the text does not fit
 */
export function createSplitCookies({ set }: Pick<CookieWriter, 'set'>, tooLarge: FailureCode) {
  return {
    /**
     * Sets the pieces, and clears those that are no longer needed.
     *
     * @throws {RelayError} `tooLarge`, before any cookie is set
     */
    set(ctx: Context, name: string, text: string, maxAge: number): void {
      if (text.length > longestSplit) throw new RelayError(tooLarge);
      for (const [index, pieceName] of pieceNames(name).entries()) {
        const piece = text.slice(index * pieceLength, (index + 1) * pieceLength);
        set(ctx, pieceName, piece, piece === '' ? 0 : maxAge);
      }
    },
    /**
     * Reads the text.
     *
     * @returns undefined if it is absent, if a piece is missing, or if a name comes twice, because a sibling domain may
     *   have planted one of the cookies
     */
    get(ctx: Context, name: string): string | undefined {
      const cookies = readCookies(ctx);
      const valuesOfPieces = pieceNames(name).map((pieceName) => cookies.get(pieceName) ?? []);
      const count = valuesOfPieces.findLastIndex((values) => values.length > 0) + 1;
      const isAnyTwice = valuesOfPieces.some((values) => values.length > 1);
      if (count === 0 || isAnyTwice) return undefined;
      const pieces = valuesOfPieces.slice(0, count).map(([value = '']) => value);
      const last = pieces.at(-1) ?? '';
      const areOthersFull = pieces.slice(0, -1).every((piece) => piece.length === pieceLength);
      return areOthersFull && last !== '' && last.length <= pieceLength ? pieces.join('') : undefined;
    },
    clear(ctx: Context, name: string): void {
      for (const pieceName of pieceNames(name)) set(ctx, pieceName, '', 0);
    },
  };
}
