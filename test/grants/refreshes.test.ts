import { mock } from 'node:test';
import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../src/failures/relay-error.ts';
import type { FrontEndRefresh } from '../../src/grants/refresh-chain.ts';
import { createRefreshes, type Refreshes } from '../../src/grants/refresh-once.ts';
import type { Refreshed } from '../../src/grants/refresh-tokens.ts';
import type { RefreshGrant } from '../../src/oauth/token-request.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';
import { codeOf } from '../harness/expect/failure-code.ts';

const grant: FrontEndRefresh = {
  login: 'login',
  owner: ['provider', 'app'],
  thumbprint: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  refreshToken: 'refresh 0',
  scope: undefined,
};

/** A provider with rotation and reuse detection, where a second use of a refresh token ends the login. */
class RotatingProvider {
  readonly calls: string[] = [];
  /** Seconds. Tokens of a minute are refreshed each time. */
  expiresIn = 28_800;
  #current = 0;
  #isRevoked = false;

  answer(): TokenResponse {
    this.#current += 1;
    const n = this.#current;
    return {
      accessToken: `access ${n}`,
      refreshToken: `refresh ${n}`,
      tokenType: 'bearer',
      expiresIn: this.expiresIn,
      refreshExpiresIn: 15_897_600,
      scope: undefined,
    };
  }

  readonly call = async ({ refreshToken }: RefreshGrant): Promise<TokenResponse> => {
    this.calls.push(refreshToken);
    this.#isRevoked ||= refreshToken !== `refresh ${this.#current}`;
    if (this.#isRevoked) throw new RelayError('refresh_refused');
    return this.answer();
  };
}

/** A call that ends when the test says so. */
function pending() {
  const { promise, resolve, reject } = Promise.withResolvers<TokenResponse>();
  let calls = 0;
  const call = (): Promise<TokenResponse> => {
    calls += 1;
    return promise;
  };
  return { call, resolve, reject, calls: () => calls };
}

describe('a refresh', () => {
  let time: number;
  let refreshes: Refreshes;
  let provider: RotatingProvider;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    time = 1_800_000_000_000;
    refreshes = createRefreshes({ now: () => time });
    provider = new RotatingProvider();
  });
  afterEach(() => mock.timers.reset());

  function pass(milliseconds: number): void {
    time += milliseconds;
    mock.timers.tick(milliseconds);
  }

  function refresh(changes: Partial<FrontEndRefresh> = {}): Promise<Refreshed> {
    return refreshes.refreshOnce({ ...grant, ...changes }, provider.call);
  }

  const neverCalled = () => Promise.reject(new Error('the provider was called'));

  /** A refresh that the provider is not asked for. */
  function repeated(changes: Partial<FrontEndRefresh> = {}): Promise<Refreshed> {
    return refreshes.refreshOnce({ ...grant, ...changes }, neverCalled);
  }

  /** Checks how a refresh fails. */
  async function expectFailure(result: Promise<Refreshed>, code: FailureCode): Promise<void> {
    expect(await result.catch(codeOf)).to.equal(code);
  }

  describe('that is in flight', () => {
    it('gives all tabs its error, and is forgotten', async () => {
      const { call, reject, calls } = pending();
      const results = Array.from({ length: 20 }, () => refreshes.refreshOnce(grant, call));
      reject(new RelayError('provider_timeout'));
      const errors = await Promise.all(results.map((result) => result.catch(codeOf)));
      expect(errors).to.deep.equal(Array(20).fill('provider_timeout'));
      expect(calls()).to.equal(1);
      expect((await refresh()).accessToken).to.equal('access 1');
    });

    it('that fails at once is forgotten', async () => {
      const broken = refreshes.refreshOnce(grant, () => {
        throw new RelayError('overloaded');
      });
      await expectFailure(broken, 'overloaded');
      expect((await refresh()).accessToken).to.equal('access 1');
    });

    it('has no time limit', async () => {
      const { call, resolve } = pending();
      const first = refreshes.refreshOnce(grant, call);
      pass(90_000);
      const second = repeated();
      resolve(provider.answer());
      expect(await second).to.deep.equal(await first);
      pass(59_999);
      expect((await repeated()).accessToken).to.equal('access 1');
    });
  });

  const refusing = () => Promise.reject(new RelayError('refresh_refused'));

  describe('that the provider has refused', () => {
    it('is refused again for 60 seconds without a call, also with another scope', async () => {
      await expectFailure(refreshes.refreshOnce(grant, refusing), 'refresh_refused');
      pass(59_999);
      for (const scope of [undefined, 'read']) {
        await expectFailure(repeated({ scope }), 'refresh_refused');
      }
      pass(1);
      expect((await refresh()).accessToken).to.equal('access 1');
    });

    it('is a separate call with another refresh token or key', async () => {
      await expectFailure(refreshes.refreshOnce(grant, refusing), 'refresh_refused');
      expect((await refresh({ thumbprint: 'another' })).accessToken).to.equal('access 1');
      expect((await refresh({ refreshToken: 'refresh 1' })).accessToken).to.equal('access 2');
    });
  });

  describe('of a straggler', () => {
    it('gets the result without a call, for 60 seconds', async () => {
      await refresh();
      pass(59_999);
      expect((await refresh()).refreshToken).to.equal('refresh 1');
      expect(provider.calls).to.deep.equal(['refresh 0']);
      pass(1);
      await expectFailure(refresh(), 'refresh_refused');
      expect(provider.calls).to.deep.equal(['refresh 0', 'refresh 0']);
    });

    it('gets the remaining seconds of its tokens', async () => {
      await refresh();
      pass(1_500);
      expect(await refresh()).to.include({ expiresIn: 28_798, refreshExpiresIn: 15_897_598 });
    });

    it('gets the result for the whole minute, even if its token is already over', async () => {
      await refreshes.refreshOnce(grant, async () => ({ ...provider.answer(), expiresIn: 10 }));
      pass(30_000);
      expect(await repeated()).to.include({ expiresIn: 0, refreshToken: 'refresh 1' });
    });

    it('gets the earlier result again if the newest refresh fails', async () => {
      provider.expiresIn = 60;
      const { refreshToken } = await refresh();
      const { call, reject } = pending();
      const second = refreshes.refreshOnce({ ...grant, refreshToken }, call);
      const straggler = repeated();
      reject(new RelayError('provider_unreachable'));
      for (const result of [second, straggler]) {
        await expectFailure(result, 'provider_unreachable');
      }
      expect((await repeated()).accessToken).to.equal('access 1');
    });

    it('ends even if the provider returns an earlier refresh token again', async () => {
      const rotate = (from: string, refreshToken: string) =>
        refreshes.refreshOnce({ ...grant, refreshToken: from }, async () => ({
          ...provider.answer(),
          refreshToken,
        }));
      await rotate('a', 'b');
      pass(30_000);
      await rotate('b', 'a');
      expect((await repeated({ refreshToken: 'b' })).refreshToken).to.equal('a');
      pass(30_000);
      // The newest token is refreshed, and its result is not repeated.
      expect((await rotate('a', 'c')).refreshToken).to.equal('c');
      expect((await repeated({ refreshToken: 'b' })).refreshToken).to.equal('c');
    });
  });

  describe('with the newest refresh token', () => {
    for (const [what, changes] of [
      ['rotates', {}],
      ['sends no refresh token', { refreshToken: undefined }],
      ['sends the same one', { refreshToken: grant.refreshToken }],
      ['does not say when its tokens end', { expiresIn: undefined, refreshExpiresIn: undefined }],
    ] as const) {
      it(`makes one call in 30 seconds at a provider that ${what}`, async () => {
        let calls = 0;
        const call = async () => {
          calls += 1;
          return { ...provider.answer(), ...changes };
        };
        let { refreshToken } = grant;
        for (let time = 0; time < 40; time += 1) {
          const result = await refreshes.refreshOnce({ ...grant, refreshToken }, call);
          expect(result.accessToken).to.equal('access 1');
          ({ refreshToken } = result);
        }
        expect(calls).to.equal(1);
        pass(29_999);
        await repeated({ refreshToken });
        pass(1);
        const later = await refreshes.refreshOnce({ ...grant, refreshToken }, call);
        expect(later.accessToken).to.equal('access 2');
      });
    }

    it('gets the seconds that are left, and a new call for the last minute', async () => {
      const short = async () => ({ ...provider.answer(), expiresIn: 71 });
      const { refreshToken } = await refreshes.refreshOnce(grant, short);
      pass(10_000);
      const again = await repeated({ refreshToken });
      expect(again).to.include({ expiresIn: 61, refreshExpiresIn: 15_897_590 });
      pass(1000);
      expect((await refresh({ refreshToken })).accessToken).to.equal('access 2');
    });

    it('is a new call with another scope, and after a refusal', async () => {
      const { refreshToken } = await refresh();
      const narrow = refreshes.refreshOnce({ ...grant, refreshToken, scope: 'read' }, refusing);
      await expectFailure(narrow, 'refresh_refused');
      await expectFailure(repeated({ refreshToken }), 'refresh_refused');
    });

    it('is a new call if the provider refuses the access token that would be repeated', async () => {
      const { refreshToken } = await refresh();
      const newest = { ...grant, refreshToken };
      await refreshes.refreshOnce(newest, neverCalled, () => true);
      const next = await refreshes.refreshOnce(newest, provider.call, (token) => token !== 'access 1');
      expect(next.accessToken).to.equal('access 2');
    });

    for (const [what, step] of [
      ['other scopes', async (time: number) => ({ scope: time % 2 ? 'read' : 'write' })],
      [
        'revocations that the provider does not make',
        async (_time: number, newest: FrontEndRefresh) => {
          await refreshes.endAndTakeNewest(newest);
          return {};
        },
      ],
    ] as const) {
      it(`is a call sixty times in ten minutes at most, also with ${what} in between`, async () => {
        let newest = grant;
        for (let time = 0; time < 60; time += 1) {
          const changes = await step(time, newest);
          const { refreshToken } = await refreshes.refreshOnce({ ...newest, ...changes }, provider.call);
          newest = { ...grant, refreshToken };
          pass(100);
        }
        expect(provider.calls).to.have.length(60);
        const more = refreshes.refreshOnce({ ...newest, scope: 'other' }, neverCalled);
        expect(await more.catch(codeOf)).to.equal('rate_limited');
        pass(600_000);
        expect((await refresh(newest)).accessToken).to.equal('access 61');
      });
    }

    it('is a new call once its login is to be revoked', async () => {
      const { refreshToken } = await refresh();
      expect(await refreshes.endAndTakeNewest(grant)).to.include({ accessToken: 'access 1' });
      expect((await refresh({ refreshToken })).accessToken).to.equal('access 2');
      await refreshes.endAndTakeNewest({ ...grant, refreshToken: 'refresh 2' });
      expect((await refresh({ refreshToken: 'refresh 2' })).accessToken).to.equal('access 3');
    });

    it('is a new call also with an earlier token of a login that is to be revoked', async () => {
      const { refreshToken } = await refresh();
      await refreshes.endAndTakeNewest({ ...grant, refreshToken });
      expect((await refresh()).accessToken).to.equal('access 2');
      expect(provider.calls).to.deep.equal(['refresh 0', 'refresh 1']);
    });
  });

  describe('of another client', () => {
    for (const [who, changes] of [
      ['another registration', { owner: ['another', 'app'] }],
      ['another front end', { owner: ['provider', 'another'] }],
      ['another key', { thumbprint: 'another' }],
      ['no key', { thumbprint: undefined }],
      ['another refresh token', { refreshToken: 'another' }],
    ] as const) {
      it(`gets no part of the result: ${who}`, async () => {
        const { call, resolve } = pending();
        const own = async () => ({ ...provider.answer(), accessToken: 'own', refreshToken: 'own' });
        const inFlight = refreshes.refreshOnce(grant, call);
        const other = { ...grant, ...changes };
        expect((await refreshes.refreshOnce(other, own)).accessToken).to.equal('own');
        resolve(provider.answer());
        expect((await inFlight).accessToken).not.to.equal('own');
        expect((await refreshes.refreshOnce(other, neverCalled)).accessToken).to.equal('own');
        expect((await repeated()).accessToken).not.to.equal('own');
      });
    }
  });

  describe('with another scope', () => {
    const narrow = { scope: 'read' };

    it('does not get the result, but a call with the newest refresh token', async () => {
      await refresh(narrow);
      expect((await refresh()).accessToken).to.equal('access 2');
      expect(provider.calls).to.deep.equal(['refresh 0', 'refresh 1']);
      // From now on, both scopes get repeated results with the newest refresh token.
      expect((await refresh()).refreshToken).to.equal('refresh 2');
    });

    it('does not get the error of the refresh in flight', async () => {
      const { call, reject } = pending();
      const wide = refreshes.refreshOnce(grant, call);
      const other = refresh(narrow);
      reject(new RelayError('scope_refused'));
      expect(await wide.catch(codeOf)).to.equal('scope_refused');
      expect((await other).accessToken).to.equal('access 1');
    });
  });

  describe('that has rotated a token', () => {
    const newest = (refreshToken = grant.refreshToken) => refreshes.endAndTakeNewest({ ...grant, refreshToken });

    it('yields the newest token of the chain for a minute', async () => {
      provider.expiresIn = 60;
      expect(await newest()).to.equal(undefined);
      const { refreshToken } = await refresh();
      await refresh({ refreshToken });
      expect(await newest()).to.include({ accessToken: 'access 2', refreshToken: 'refresh 2' });
      expect(await newest('refresh 2')).to.equal(undefined);
      pass(60_000);
      expect(await newest()).to.equal(undefined);
    });

    it('yields it after a refresh in flight has succeeded or failed', async () => {
      const failing = pending();
      const failed = refreshes.refreshOnce(grant, failing.call).catch(codeOf);
      const afterFailure = newest();
      failing.reject(new RelayError('provider_timeout'));
      expect([await failed, await afterFailure]).to.deep.equal(['provider_timeout', undefined]);

      const { call, resolve } = pending();
      const inFlight = refreshes.refreshOnce(grant, call);
      const asked = newest();
      resolve(provider.answer());
      expect(await asked).to.deep.equal(await inFlight);
    });
  });

  it('is remembered unless it is the oldest of 4,096 entries of the login that refreshes most', async () => {
    const rotate = (refreshToken: string, login = refreshToken) =>
      refreshes.refreshOnce({ ...grant, login, refreshToken }, async () => ({
        ...provider.answer(),
        refreshToken: `after ${refreshToken}`,
      }));
    await rotate('honest');
    for (let n = 0; n < 4096; n += 1) await rotate(`${n}`, `${n % 100}`);
    const again = (refreshToken: string) => repeated({ refreshToken }).catch(() => 'a call');
    expect(await again('honest')).to.have.property('refreshToken', 'after honest');
    expect(await again('0')).to.equal('a call');
    expect(await again('1')).to.have.property('refreshToken', 'after 1');
  });

  it('is answered six hundred times in ten minutes for one login, with or without a call', () => {
    for (let times = 0; times < 600; times += 1) refreshes.count('login');
    expect(() => refreshes.count('login'))
      .to.throw(RelayError)
      .with.property('code', 'rate_limited');
    refreshes.count('another login');
    pass(600_000);
    refreshes.count('login');
  });
});
