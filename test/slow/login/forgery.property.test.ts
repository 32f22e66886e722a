import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { RelayError } from '../../../src/failures/relay-error.ts';
import { createStates } from '../../../src/login/state.ts';
import { createLoginProtection } from '../../../src/login/state-check.ts';
import { setCookies } from '../../harness/browser/cookie-jar.ts';
import { answerOf, koaContext } from '../../harness/login/koa-context.ts';

const callbackUri = 'https://relay.example/auth/provider/callback';
const baseUrl = 'https://relay.example';
const states = createStates([randomBytes(32), randomBytes(32)], () => 'provider', callbackUri);
const plainStart = { oauth: undefined, returnTo: undefined };

/** A way to change text at a position. It may change nothing. */
type Spoil = (text: string, position: number, other: string) => string;

const spoils: readonly Spoil[] = [
  (text) => text,
  (text, position) => text.slice(0, position),
  (text, position) => text.slice(position),
  (text, position) => text.slice(0, position) + text.slice(position + 1),
  (text, position, other) => text.slice(0, position) + other + text.slice(position),
  (text, position, other) => text.slice(0, position) + other + text.slice(position + other.length),
  (text, position, other) => text.slice(0, position) + other.slice(position),
  (text, position) => text.slice(position) + text.slice(0, position),
  (text, position) => text + text.slice(position),
  (text, position) => flipBit(text, position),
  (text) => Buffer.from(text, 'base64url').toString('base64'),
  (text) => text.toLowerCase(),
  (text) => [...text].reverse().join(''),
  (text) => `"${text}"`,
  (text) => `"${text}`,
  (text) => `${text}=`,
  (text) => `\u{A0}${text}`,
  (text) => text.replace(/^\w/, (first) => `%${first.charCodeAt(0).toString(16)}`),
  (text) => Buffer.from(text, 'base64url').toString('hex'),
  // The same bytes, encoded with other bits in the last character.
  (text) => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1),
];

function flipBit(text: string, position: number): string {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length === 0) return text;
  const index = position % bytes.length;
  bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << (position & 7)), index);
  return bytes.toString('base64url');
}

const base64url = fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), base64url);
const spoilt = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.array(fc.tuple(fc.constantFrom(...spoils), fc.nat(120), anyText), { maxLength: 3 }))
    .map(([text, changes]) =>
      changes.reduce((result, [spoil, position, other]) => spoil(result, position, other), text),
    );

// 7,000 states and cookies in all.
describe('of any states and cookies in a callback,', () => {
  const protection = createLoginProtection(
    { stateCheck: 'browsers', baseUrl, callbackUri },
    states,
    () => 1_800_000_000_000,
  );
  const logins = Array.from({ length: 5 }, () => {
    const ctx = koaContext();
    const { state } = protection.start(ctx, 'app', { ...plainStart, state: 'own' });
    const [cookie] = setCookies(answerOf(ctx));
    return { state, name: cookie?.name ?? '', value: cookie?.value ?? '' };
  });
  const pick = <Value>(part: (login: (typeof logins)[number]) => Value) => fc.constantFrom(...logins.map(part));
  // Header values as Node decodes them: any byte except control characters.
  const headerText = (texts: fc.Arbitrary<string>) =>
    texts.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''));

  const anyState = fc.oneof(
    pick(({ state }) => state),
    spoilt(pick(({ state }) => state)),
    anyText,
  );
  const names = fc.oneof(
    { weight: 5, arbitrary: pick(({ name }) => name) },
    headerText(spoilt(pick(({ name }) => name))),
    fc.constantFrom('__Host-Http-lr_login_finished', 'theme', '__proto__', ''),
  );
  const values = fc.oneof(
    { weight: 5, arbitrary: pick(({ value }) => value) },
    headerText(spoilt(pick(({ value }) => value))),
    pick(({ name }) => name.slice(-16)),
  );
  const pairs = fc.oneof(
    { weight: 4, arbitrary: pick(({ name, value }) => `${name}=${value}`) },
    { weight: 4, arbitrary: fc.tuple(names, values).map(([name, value]) => `${name}=${value}`) },
    headerText(anyText),
    fc.constantFrom('"', 'a="', '";', ';', '=', ' '),
  );
  const cookieHeaders = fc
    .tuple(fc.array(pairs, { maxLength: 5 }), fc.constantFrom('; ', ';', ', ', ' '))
    .map(([all, separator]) => all.join(separator));

  it('only a genuine state with its own genuine cookie is accepted', () => {
    let passed = 0;
    fc.assert(
      fc.property(anyState, cookieHeaders, (state, cookie) => {
        const ctx = koaContext({ cookie });
        let verifier: string | undefined;
        try {
          verifier = protection.verifyState(ctx, state)?.codeVerifier;
        } catch (error) {
          expect(error).to.be.an.instanceOf(RelayError);
          return;
        }
        passed += 1;
        const login = logins.find((one) => one.state === state);
        expect(verifier).to.match(/^[\w-]{43}$/);
        const trimmed = cookie.replaceAll(/[ \t]*=[ \t]*/g, '=');
        expect(trimmed).to.contain(`${login?.name}=${login?.value}`);
      }),
      { numRuns: 5000 },
    );
    // Many of them are genuine and accepted. So the others are not refused because of the test itself.
    expect(passed).to.be.greaterThan(50);
  });

  it('none prevents the start of a login', () => {
    fc.assert(
      fc.property(cookieHeaders, fc.string({ unit: 'binary', maxLength: 512 }), (cookie, own) => {
        const ctx = koaContext({ cookie });
        const { state } = protection.start(ctx, 'app', { ...plainStart, state: own });
        const [set] = setCookies(answerOf(ctx)).filter(({ maxAge }) => maxAge !== '0');
        const callback = koaContext({ cookie: `${set?.name}=${set?.value}` });
        const login = protection.verifyState(callback, state);
        expect(login?.codeVerifier).to.match(/^[\w-]{43}$/);
        expect(login?.request.state ?? '').to.equal(own);
      }),
      { numRuns: 2000 },
    );
  });

  it('a request in cookies opens only for its own login', () => {
    const long = Array.from({ length: 3 }, (_, index) => {
      const ctx = koaContext();
      const own = `${index}${randomBytes(1500).toString('base64url')}`.slice(0, 2000);
      const { state } = protection.start(ctx, 'app', { ...plainStart, state: own });
      const cookies = setCookies(answerOf(ctx));
      const secret = cookies.pop();
      return { state, own, secret: `${secret?.name}=${secret?.value}`, parts: cookies };
    });
    const parts = long.flatMap((login) => login.parts);
    const partNames = fc.constantFrom(...Array.from({ length: 9 }, (_, index) => `__Host-Http-lr_login_part_${index}`));
    const partValues = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...parts.map(({ value }) => value)) },
      headerText(spoilt(fc.constantFrom(...parts.map(({ value }) => value)))),
    );
    const strays = fc.array(
      fc.tuple(partNames, partValues).map(([name, value]) => `${name}=${value}`),
      { maxLength: 4 },
    );
    let whole = 0;
    fc.assert(
      fc.property(fc.constantFrom(...long), strays, fc.boolean(), fc.nat(8), (login, others, isFirst, missing) => {
        const own = login.parts.filter((_, index) => index !== missing).map(({ name, value }) => `${name}=${value}`);
        const cookie = [...(isFirst ? others : own), ...(isFirst ? own : others), login.secret].join('; ');
        try {
          expect(protection.verifyState(koaContext({ cookie }), login.state)?.request.state).to.equal(login.own);
          whole += 1;
        } catch (error) {
          if (!(error instanceof RelayError)) throw error;
          expect(error.code).to.be.oneOf(['state_unknown', 'cookie_invalid']);
        }
      }),
      { numRuns: 3000 },
    );
    expect(whole).to.be.above(300);
  });
});
