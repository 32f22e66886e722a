import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { pieceLength } from '../../src/http/split-cookies.ts';
import { createSessionCookies } from '../../src/session/cookies.ts';
import { clearedCookies, setCookies } from '../harness/browser/cookie-jar.ts';
import { answerOf, koaContext } from '../harness/login/koa-context.ts';

const name = '__Host-Http-lr_session_app';
const cookies = createSessionCookies(true);

/** The answer that sets this text. */
function answerWith(text: string, frontEnd = 'app', by = cookies) {
  const ctx = koaContext();
  by.set(ctx, frontEnd, text, 60);
  return answerOf(ctx);
}

/** The `Cookie` header of a browser that has received this text. */
function headerWith(text: string): string {
  return setCookies(answerWith(text))
    .filter(({ value }) => value !== '')
    .map(({ name: piece, value }) => `${piece}=${value}`)
    .join('; ');
}

const read = (cookie: string, frontEnd = 'app') => cookies.get(koaContext({ cookie }), frontEnd);

describe('the cookies of a session', () => {
  it('are only for this host, and cannot be read by pages: Secure, HttpOnly, SameSite=Strict, Path=/, without a Domain', () => {
    const [cookie] = setCookies(answerWith('sealed'));
    expect(cookie).to.include({ name, value: 'sealed' });
    const attributes = ['HttpOnly', 'Max-Age=60', 'Path=/', 'SameSite=Strict', 'Secure'];
    expect(cookie?.attributes).to.deep.equal(attributes);
  });

  it('have a name without prefix on plain http, where browsers would refuse the prefix', () => {
    const [cookie] = setCookies(answerWith('sealed', 'app', createSessionCookies(false)));
    expect(cookie?.name).to.equal('lr_session_app');
    expect(cookie?.attributes).not.to.include('Secure');
  });

  for (const [length, pieces] of [
    [1, 1],
    [pieceLength, 1],
    [pieceLength + 1, 2],
    [2 * pieceLength, 2],
    [3 * pieceLength, 3],
  ] as const) {
    it(`give back a text of ${length} characters from ${pieces} of them`, () => {
      const text = 'x'.repeat(length - 1).concat('y');
      const header = headerWith(text);
      expect(header.split('; ')).to.have.lengthOf(pieces);
      expect(read(header)).to.equal(text);
    });
  }

  it('are each small enough for browsers, with the longest name of a front end', () => {
    for (const cookie of setCookies(answerWith('x'.repeat(3 * pieceLength), 'a'.repeat(64)))) {
      expect(cookie.name.length + cookie.value.length).to.be.below(4096);
    }
  });

  it('refuse a text that does not fit into three of them, and then set none', () => {
    const ctx = koaContext();
    const set = () => cookies.set(ctx, 'app', 'x'.repeat(3 * pieceLength + 1), 60);
    expect(set).to.throw(RelayError).with.property('code', 'session_too_large');
    expect(setCookies(answerOf(ctx))).to.deep.equal([]);
  });

  it('clear the pieces that a shorter text no longer needs', () => {
    expect(clearedCookies(answerWith('short'))).to.deep.equal([`${name}.1`, `${name}.2`]);
  });

  const full = 'f'.repeat(pieceLength);
  for (const [what, header] of Object.entries({
    'that are missing': 'theme=dark',
    'whose name is there twice': `${name}=one; ${name}=two`,
    'whose name is there twice with the same value': `${name}=one; ${name}=one`,
    'with a piece that is there twice': `${name}=${full}; ${name}.1=a; ${name}.1=b`,
    'without their first piece': `${name}.1=rest`,
    'with a hole': `${name}=${full}; ${name}.2=rest`,
    'with a piece after one that is not full': `${name}=one; ${name}.1=planted`,
    'with an empty piece': `${name}=${full}; ${name}.1=`,
    'without a value': `${name}=`,
    'with a piece that is too long': `${name}=${full}f`,
    'of another case': `${name.toLowerCase()}=one`,
    'without the prefix that browsers protect': 'lr_session_app=one',
    'of another front end': `${name}2=one`,
  })) {
    it(`${what} are no session`, () => {
      expect(read(header)).to.equal(undefined);
    });
  }

  it('with a fourth piece are read without it', () => {
    expect(read(`${headerWith('sealed')}; ${name}.3=planted`)).to.equal('sealed');
  });

  it('are found even if they are no session', () => {
    const has = (cookie: string) => cookies.hasAny(koaContext({ cookie }), new Set(['app']));
    expect(has(`${name}.2=x`)).to.equal(true);
    expect(has(`${name}=`)).to.equal(true);
    expect(has(`${name}2=x`)).to.equal(false);
    expect(has(`${name}.3=x`)).to.equal(false);
    expect(has('lr_session_app=x')).to.equal(false);
  });
});
