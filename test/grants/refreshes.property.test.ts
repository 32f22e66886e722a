import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createRefreshes } from '../../src/grants/refresh-once.ts';
import type { RefreshGrant } from '../../src/oauth/token-request.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300);

/** A provider with rotation and reuse detection, which sometimes has trouble. */
class Provider {
  newest = 0;
  isRevoked = false;
  readonly #troubles: boolean[];

  constructor(troubles: readonly boolean[]) {
    this.#troubles = [...troubles];
  }

  answer({ refreshToken, scope }: RefreshGrant): TokenResponse {
    if (this.#troubles.pop() === true) throw new RelayError('provider_unreachable');
    this.isRevoked ||= refreshToken !== `refresh ${this.newest}`;
    if (this.isRevoked) throw new RelayError('refresh_refused');
    this.newest += 1;
    return {
      accessToken: `${this.newest}`,
      refreshToken: `refresh ${this.newest}`,
      tokenType: 'bearer',
      expiresIn: 3600,
      refreshExpiresIn: undefined,
      scope: scope ?? 'read write',
    };
  }
}

/** The refreshes of one tab, one after the other, each with its scope. */
const tabs = (scopes: readonly (string | undefined)[]) =>
  fc.array(fc.array(fc.constantFrom(...scopes), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 8,
  });
const troubles = fc.array(fc.boolean(), { maxLength: 6 });

/** Lets the tabs refresh in any order. Each uses the last refresh token that it has got itself. */
async function run(
  scheduler: fc.Scheduler,
  provider: Provider,
  plans: readonly (readonly (string | undefined)[])[],
  check: (got: TokenResponse, newestBefore: number) => void,
): Promise<void> {
  let milliseconds = 0;
  const refreshes = createRefreshes({ now: () => milliseconds });
  let newestSeen = 0;
  const call = async (grant: RefreshGrant) => {
    await scheduler.schedule(Promise.resolve(), 'the request arrives');
    const answer = provider.answer(grant);
    await scheduler.schedule(Promise.resolve(), 'the response arrives');
    return answer;
  };
  const whole = plans.map(async (plan) => {
    let refreshToken = 'refresh 0';
    for (const scope of plan) {
      await scheduler.schedule(Promise.resolve(), 'a tab refreshes');
      // This takes at most half a minute.
      milliseconds += 900;
      const before = newestSeen;
      const owner = ['provider', 'app'] as const;
      try {
        const got = await refreshes.refreshOnce(
          { owner, login: 'login', thumbprint: 'key', refreshToken, scope },
          call,
        );
        assert.equal(got.scope, scope ?? 'read write');
        check(got, before);
        newestSeen = Math.max(newestSeen, Number(got.accessToken));
        refreshToken = got.refreshToken;
      } catch (error) {
        assert.ok(error instanceof RelayError && error.code === 'provider_unreachable', `${error}`);
      }
    }
  });
  await scheduler.waitFor(Promise.all(whole));
}

describe('refreshes in any order by independent tabs', () => {
  for (const [what, scopes] of [
    ['give no older token than any tab has', [undefined]],
    ['give each tab the scope that it requests', [undefined, 'read', 'write']],
  ] as const) {
    it(`use no refresh token twice, and ${what}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), tabs(scopes), troubles, async (s, plans, trouble) => {
          const provider = new Provider(trouble);
          await run(s, provider, plans, ({ accessToken }, newestBefore) => {
            const isOlder = Number(accessToken) < newestBefore;
            assert.ok(scopes.length > 1 || !isOlder, `${accessToken} after ${newestBefore}`);
          });
          assert.equal(provider.isRevoked, false);
        }),
        { numRuns },
      );
    });
  }
});
