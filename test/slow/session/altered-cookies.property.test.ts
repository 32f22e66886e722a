import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createMarks } from '../../../src/memory/home.ts';
import { kinds } from '../../../src/memory/kinds.ts';
import type { KeyRing } from '../../../src/sealing/keys.ts';
import { createSessions } from '../../../src/session/sessions.ts';
import { setCookies } from '../../harness/browser/cookie-jar.ts';
import { alteredCookies, cookieHeader } from '../../harness/login/altered-cookies.ts';
import { answerOf, koaContext } from '../../harness/login/koa-context.ts';

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
