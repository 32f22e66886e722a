import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createMarks } from '../../../src/memory/home.ts';
import { kinds } from '../../../src/memory/kinds.ts';
import type { KeyRing } from '../../../src/sealing/keys.ts';
import { createSessions } from '../../../src/session/sessions.ts';
import { setCookies } from '../../harness/browser/cookie-jar.ts';
import { answerOf, koaContext } from '../../harness/login/koa-context.ts';
import { sessionCookie } from '../../harness/login/session-page.ts';

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
function cookieHeader(pieces: Pieces): string {
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
function alteredCookies(sessions: readonly Pieces[]): fc.Arbitrary<string> {
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

/** How many altered cookies are tried. */
const numRuns = 100_000;

const keys: KeyRing = [randomBytes(32)];
const login = { registration: 'provider', audience: 'provider client-1', frontEnd: 'app' };
const registrations = new Set([login.registration]);
const sessions = createSessions(
  {
    secure: true,
    lifetime: 604_800,
    idle: 86_400,
    frontEnds: new Map([[login.frontEnd, { audience: 'app https://app.example', registrations }]]),
  },
  keys,
  createMarks({ now: Date.now }, kinds.logouts),
  Date.now,
);

/** The pieces of a new session with an access token of this length. */
function piecesOf(length: number): string[] {
  const ctx = koaContext();
  sessions.start(ctx, login, {
    accessToken: 'a'.repeat(length),
    tokenType: undefined,
    expiresIn: undefined,
    refreshToken: 'refresh',
    refreshExpiresIn: undefined,
    scope: undefined,
  });
  return setCookies(answerOf(ctx)).flatMap(({ value }) => (value === '' ? [] : [value]));
}

describe('the cookie of a session', () => {
  it(`opens to no session once it is altered: ${numRuns} cookies`, async function () {
    this.timeout(600_000);
    const genuine = [10, 10, 3000, 3000, 6000, 6000].map(piecesOf);
    expect(genuine.map(({ length }) => length)).to.deep.equal([1, 1, 2, 2, 3, 3]);
    const read = (cookie: string) => sessions.read(koaContext({ cookie }), 'app');
    for (const pieces of genuine) {
      expect(await read(cookieHeader(pieces))).to.have.property('refreshToken', 'refresh');
    }
    await fc.assert(
      fc.asyncProperty(alteredCookies(genuine), async (header) => {
        expect(await read(header)).to.equal(undefined);
      }),
      { numRuns },
    );
  });
});
