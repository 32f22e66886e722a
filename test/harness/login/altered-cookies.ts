import fc from 'fast-check';
import { sessionCookie } from './session-page.ts';

/** The pieces of a session's cookie, in order. */
type Pieces = readonly string[];

/** A way to alter the pieces of a session. `other` are those of another session. */
type Alter = (pieces: Pieces, position: number, other: Pieces, text: string) => Pieces;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Changes the whole text, and cuts it into pieces as before. */
const inWhole =
  (change: (whole: string, position: number, text: string) => string): Alter =>
  (pieces, position, _, text) => {
    const length = pieces[0]?.length ?? 0;
    const whole = pieces.join('');
    const changed = change(whole, position % whole.length, text);
    return pieces.map((_piece, index) =>
      index + 1 === pieces.length
        ? changed.slice(index * length)
        : changed.slice(index * length, (index + 1) * length),
    );
  };

/** A piece more. A fourth one would belong to no session. */
function withAnother(pieces: Pieces, piece = ''): Pieces {
  return pieces.length < 3 ? [...pieces, piece] : pieces.with(1, piece);
}

const alterations: readonly Alter[] = [
  inWhole((whole, at, text) => whole.slice(0, at) + text + whole.slice(at + text.length)),
  inWhole((whole, at, text) => whole.slice(0, at) + text + whole.slice(at)),
  inWhole((whole, at) => whole.slice(0, at) + whole.slice(at + 1)),
  inWhole((whole, at) => whole.slice(0, at)),
  inWhole((whole, at) => whole.slice(at)),
  inWhole((whole, at) => {
    const index = alphabet.indexOf(whole[at] ?? '');
    return whole.slice(0, at) + alphabet[(index + 1) % alphabet.length] + whole.slice(at + 1);
  }),
  inWhole((whole, at) => whole.slice(0, at) + [...whole.slice(at)].reverse().join('')),
  inWhole((whole) => `${whole}=`),
  inWhole((whole) => `"${whole}"`),
  (pieces) => pieces.slice(0, -1),
  (pieces) => pieces.slice(1),
  (pieces) => pieces.toReversed(),
  (pieces, position) => pieces.with(position % pieces.length, ''),
  (pieces, position, other) => {
    const index = position % pieces.length;
    return pieces.with(index, other[index] ?? '');
  },
  (pieces, _, other) => withAnother(pieces, other.at(-1)),
  (pieces) => withAnother(pieces, pieces.at(-1)),
];

/** The `Cookie` header with these pieces. */
export function cookieHeader(pieces: Pieces): string {
  return pieces
    .map((piece, index) => `${sessionCookie}${index === 0 ? '' : `.${index}`}=${piece}`)
    .join('; ');
}

/**
 * The `Cookie` headers of altered sessions: bits, characters and pieces that are changed, cut, moved, or
 * those of another session.
 *
 * @param sessions the pieces of genuine sessions: two or more
 */
export function alteredCookies(sessions: readonly Pieces[]): fc.Arbitrary<string> {
  const genuine = new Set(sessions.map(cookieHeader));
  return fc
    .tuple(
      fc.constantFrom(...sessions.keys()),
      fc.constantFrom(...alterations),
      fc.nat(12_000),
      fc.string({ unit: fc.constantFrom(...alphabet, '.', '%', ','), minLength: 1 }),
    )
    .map(([index, alter, position, text]) => {
      const other = sessions[(index + 1) % sessions.length] ?? [];
      return cookieHeader(alter(sessions[index] ?? [], position, other, text));
    })
    .filter((header) => !genuine.has(header));
}
