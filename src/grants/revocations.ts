import type { Clock } from '../clock.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { createRecent, keyOf } from '../recent.ts';

const lifetime = 60_000;
const most = 4096;

/** The logins that front ends revoked within a minute. */
export type Revocations = ReturnType<typeof createRevocations>;

/** Remembers the last 4096 logins at most, each for 60 seconds. */
export function createRevocations(now: Clock) {
  const revocations = createRecent<Promise<void>>(lifetime, most, now);

  return {
    /**
     * Revokes the tokens of a login once: a page that repeats it must not use up the requests that the
     * provider allows the relay. A failure is not remembered.
     *
     * @param revoke asks the provider
     */
    async once(tokens: RevocableTokens, revoke: () => Promise<void>): Promise<void> {
      const { refreshToken, accessToken } = tokens;
      const key = keyOf(refreshToken, accessToken);
      const known = revocations.get(key);
      if (known !== undefined) return await known;
      const revocation = revoke().catch((error: unknown) => {
        revocations.delete(key);
        throw error;
      });
      revocations.set(key, revocation);
      await revocation;
    },
  };
}
