import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../src/failures/relay-error.ts';
import { createStates } from '../../src/login/state.ts';
import { createLoginProtection } from '../../src/login/state-check.ts';
import { clearedCookies, setCookies } from '../harness/browser/cookie-jar.ts';
import { answerOf, koaContext } from '../harness/login/koa-context.ts';

const settings = {
  stateCheck: 'browsers',
  baseUrl: 'https://relay.example',
  callbackUri: 'https://relay.example/auth/provider/callback',
} as const;
const states = createStates([Buffer.alloc(32, 'k')], () => 'provider', settings.callbackUri);
const noon = 1_800_000_000_000;

describe('login protection', () => {
  let time = noon;
  const now = () => time;
  const protection = createLoginProtection(settings, states, now);
  beforeEach(() => {
    time = noon;
  });

  /** The state and the browser's cookie of a login that starts at noon. */
  function start() {
    const ctx = koaContext();
    const request = { state: 'own', oauth: undefined, returnTo: undefined };
    const { state } = protection.start(ctx, 'app', request);
    const [cookie] = setCookies(answerOf(ctx));
    if (cookie === undefined) throw new Error('no cookie was set');
    return { state, cookie };
  }

  // The relay counts whole seconds; a replica's clock may differ by a minute.
  const ages: [failure: FailureCode | undefined, seconds: number[]][] = [
    [undefined, [-60, -59, 0, 59, 540, 600, 600.999]],
    ['state_premature', [-61, -86_400]],
    ['state_expired', [601, 660, 86_400]],
  ];
  for (const [age, failure] of ages.flatMap(([end, all]) => all.map((one) => [one, end] as const))) {
    it(`${failure ? `refuses (${failure})` : 'accepts'} a state that is ${age} s old`, () => {
      const { state, cookie } = start();
      time = noon + age * 1000;
      const ctx = koaContext({ cookie: `${cookie.name}=${cookie.value}` });
      const login = protection.verifyState(ctx, state);
      if (login === undefined) throw new Error('the callback is excused');
      const finish = () => {
        protection.expectFresh(ctx, login);
        protection.end(ctx, login);
      };
      if (failure === undefined) finish();
      else expect(finish).to.throw(RelayError).with.property('code', failure);
      // At any age, it belongs to this browser. So clear its cookie, and tell its front end.
      expect(clearedCookies(answerOf(ctx))).to.deep.equal([cookie.name]);
      expect(login.request.state).to.equal('own');
    });
  }
});
