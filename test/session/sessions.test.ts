import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { kinds } from '../../src/memory/kinds.ts';
import { createMarks, type Marks } from '../../src/memory/marks.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';
import type { KeyRing } from '../../src/sealing/keys.ts';
import { createSessions, type Sessions } from '../../src/session/sessions.ts';
import { CookieJar, setCookies } from '../harness/browser/cookie-jar.ts';
import { answerOf, koaContext } from '../harness/login/koa-context.ts';

const keys: KeyRing = [randomBytes(32)];
const noon = 1_800_000_000;
const relay = new URL('https://relay.example');
const audience = 'app https://app.example';
const settings = {
  secure: true,
  lifetime: 7 * 86_400,
  idle: 86_400,
  frontEnds: new Map([['app', { audience, registrations: new Set(['github']) }]]),
};
const login = {
  registration: 'github',
  audience: 'github https://github.com - client-1',
  frontEnd: 'app',
};
const token: TokenResponse = {
  accessToken: 'access',
  tokenType: 'bearer',
  expiresIn: 28_800,
  refreshToken: 'refresh',
  refreshExpiresIn: undefined,
  scope: 'repo',
};

describe('a session', () => {
  let time: number;
  let logouts: Marks;
  let sessions: Sessions;
  let jar: CookieJar;
  const now = () => time * 1000;
  const create = (changes: Partial<typeof settings> = {}, ring = keys, ends = logouts) =>
    createSessions({ ...settings, ...changes }, ring, ends, now);
  beforeEach(() => {
    time = noon;
    logouts = createMarks({ now: () => time * 1000 }, kinds.logouts);
    sessions = create();
    jar = new CookieJar();
  });

  /** A request of the browser, whose cookies the response changes. */
  async function request<Result>(serve: (ctx: ReturnType<typeof koaContext>) => Result): Promise<Awaited<Result>> {
    const cookie = jar.headerFor(relay);
    const ctx = koaContext(cookie === '' ? {} : { cookie });
    const result = await serve(ctx);
    jar.keep(relay, answerOf(ctx));
    return result;
  }
  const start = (given: Partial<TokenResponse> = {}) =>
    request((ctx) => sessions.start(ctx, login, { ...token, ...given }));
  const read = (by = sessions) => request((ctx) => by.read(ctx, 'app'));
  const refresh = (given: TokenResponse | undefined, by = sessions) =>
    request(async (ctx) => {
      const session = await by.read(ctx, 'app');
      return session && (await by.renew(ctx, session, given));
    });

  it('holds the tokens of its login, and their ends', async () => {
    await start();
    const { id, ...content } = (await read()) ?? { id: '' };
    expect(id).to.match(/^[\w-]{22}$/);
    expect(content).to.deep.equal({
      ...login,
      accessToken: 'access',
      tokenType: 'bearer',
      scope: 'repo',
      refreshToken: 'refresh',
      accessTokenEndsAt: noon + 28_800,
      loggedInAt: noon,
      renewedAt: noon,
      endsAt: noon + 7 * 86_400,
      idleEndsAt: noon + 86_400,
    });
  });

  it('is over after the idle time, to the second', async () => {
    await start();
    time = noon + 86_399;
    expect(await read()).to.have.property('accessToken');
    time += 1;
    expect(await read()).to.equal(undefined);
  });

  it('lasts as long as its cookie', async () => {
    await request(async (ctx) => {
      sessions.start(ctx, login, token);
      expect(setCookies(answerOf(ctx))[0]?.maxAge).to.equal('86400');
    });
    time = noon + 80_000;
    await refresh(token);
    time = noon + 160_000;
    expect(await read()).to.have.property('accessToken');
  });

  it('is over after its lifetime, however often it is refreshed', async () => {
    await start();
    for (time = noon; time < noon + 7 * 86_400; time += 80_000) {
      expect(await refresh(token)).to.have.property('loggedInAt', noon);
    }
    time = noon + 7 * 86_400;
    expect(await read()).to.equal(undefined);
  });

  it('is over earlier if the lifetime is shortened meanwhile', async () => {
    await start();
    time = noon + 3600;
    expect(await read(create({ lifetime: 3600 }))).to.equal(undefined);
    expect(await read(create({ lifetime: 3601 }))).to.have.property('accessToken');
  });

  it('without a refresh token ends with its access token', async () => {
    await start({ refreshToken: undefined, expiresIn: 600 });
    expect(await read()).to.have.property('endsAt', noon + 600);
    time = noon + 600;
    expect(await read()).to.equal(undefined);
  });

  it('without a refresh token gets more idle time, but no new token', async () => {
    await start({ refreshToken: undefined, expiresIn: undefined });
    time = noon + 80_000;
    await refresh(undefined);
    time = noon + 160_000;
    expect(await read()).to.include({ accessToken: 'access', loggedInAt: noon });
  });

  it('keeps the refresh token and the scope if a refresh does not mention them', async () => {
    await start();
    const answer = { ...token, accessToken: 'second', refreshToken: undefined, scope: undefined };
    expect(await refresh(answer)).to.include({ refreshToken: 'refresh', scope: 'repo' });
    expect(await read()).to.include({ accessToken: 'second', refreshToken: 'refresh' });
  });

  it('does not open as the session of another front end', async () => {
    await start();
    const value = jar.at(relay.host).get('__Host-Http-lr_session_app') ?? '';
    const swapped = koaContext({ cookie: `__Host-Http-lr_session_other=${value}` });
    const same = { audience, registrations: new Set(['github']) };
    const both = create({ frontEnds: new Map(['app', 'other'].map((name) => [name, same])) });
    expect(await both.read(swapped, 'other')).to.equal(undefined);
    expect(await read(both)).to.have.property('frontEnd', 'app');
  });

  it('does not open once its front end may no longer use the registration', async () => {
    await start();
    const frontEnds = new Map([['app', { audience, registrations: new Set(['gitlab']) }]]);
    expect(await read(create({ frontEnds }))).to.equal(undefined);
  });

  it('does not open once its front end has another origin', async () => {
    await start();
    const registrations = new Set(['github']);
    const moved = new Map([['app', { audience: 'app https://new.example', registrations }]]);
    expect(await read(create({ frontEnds: moved }))).to.equal(undefined);
  });

  it('does not open with the pieces of another session', async () => {
    const long = { accessToken: 'a'.repeat(6000) };
    await start(long);
    const rest = jar.at(relay.host).get('__Host-Http-lr_session_app.1') ?? '';
    await start(long);
    jar.at(relay.host).set('__Host-Http-lr_session_app.1', rest);
    expect(await read()).to.equal(undefined);
  });

  it('that is logged out is not brought back by a copy that another relay goes on refreshing', async () => {
    await start();
    const session = await read();
    if (session === undefined) throw new Error('there is no session');
    await sessions.end(session);
    const elsewhere = create({}, keys, createMarks({ now }, kinds.logouts));
    for (time = noon; time < session.endsAt; time += 80_000) {
      expect(await refresh(token, elsewhere)).to.have.property('id', session.id);
      expect(await read()).to.equal(undefined);
    }
  });

  it('is not brought back by a refresh that was in flight during the logout', async () => {
    await start();
    await request(async (ctx) => {
      const session = await sessions.read(ctx, 'app');
      if (session === undefined) throw new Error('there is no session');
      await sessions.end(session);
      expect(await sessions.renew(ctx, session, token)).to.equal(undefined);
      expect(setCookies(answerOf(ctx))).to.deep.equal([]);
    });
  });
});
