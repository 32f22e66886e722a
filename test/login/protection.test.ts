import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../src/failures/relay-error.ts';
import { createLoginProtection } from '../../src/login/protection.ts';
import { createStates, type Login } from '../../src/login/state.ts';
import { clearedCookies, setCookies } from '../harness/browser/cookie-jar.ts';
import { answerOf, koaContext } from '../harness/login/koa-context.ts';

const settings = {
  stateCheck: 'browsers',
  baseUrl: 'https://relay.example',
  redirectUri: 'https://relay.example/auth/provider/callback',
} as const;
const states = createStates([Buffer.alloc(32, 'k')], () => 'provider', settings.redirectUri);
const noon = 1_800_000_000_000;

describe('login protection', () => {
  let time = noon;
  const now = () => time;
  const protection = createLoginProtection(settings, states, now);
  beforeEach(() => {
    time = noon;
  });

  function start(frontEndState?: string) {
    const ctx = koaContext();
    const { state, codeVerifier: verifier } = protection.start(ctx, 'app', {
      state: frontEndState,
      oauth: undefined,
      returnTo: undefined,
    });
    const [cookie] = setCookies(answerOf(ctx));
    if (cookie === undefined) throw new Error('no cookie was set');
    return { state, verifier, cookie, headers: { cookie: `${cookie.name}=${cookie.value}` } };
  }

  function finish(headers: IncomingHttpHeaders, state: string | undefined) {
    const ctx = koaContext(headers);
    let login: Login | undefined;
    try {
      login = protection.verify(ctx, state);
      if (login !== undefined) {
        protection.checkAge(ctx, login);
        protection.end(ctx, login);
      }
      return { ctx, login, failure: undefined };
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      return { ctx, login, failure: error.code };
    }
  }

  // The relay counts whole seconds; a replica's clock may differ by a minute.
  const ages: [failure: FailureCode | undefined, seconds: number[]][] = [
    [undefined, [-60, -59, 0, 59, 540, 600, 600.999]],
    ['state_premature', [-61, -86_400]],
    ['state_expired', [601, 660, 86_400]],
  ];
  for (const [age, failure] of ages.flatMap(([end, all]) =>
    all.map((one) => [one, end] as const),
  )) {
    it(`${failure ? `refuses (${failure})` : 'accepts'} a state that is ${age} s old`, () => {
      const { state, headers, cookie } = start('own');
      time = noon + age * 1000;
      const finished = finish(headers, state);
      expect(finished.failure).to.equal(failure);
      // At any age, it belongs to this browser. So clear its cookie, and tell its front end.
      expect(clearedCookies(answerOf(finished.ctx))).to.deep.equal([cookie.name]);
      expect(finished.login?.request.state).to.equal('own');
    });
  }
});
