import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import { createRecent, keyOf } from '../recent.ts';

// Longer than a code can be valid at any replica: 60 seconds, and a minute for clocks that differ.
const lifetime = 130_000;
const most = 16_384;

/** The codes that front ends have redeemed in this process. */
export type RedeemedCodes = ReturnType<typeof createRedeemedCodes>;

/**
 * Remembers the last 16,384 codes at most. If an older one is repeated, the provider refuses it.
 */
export function createRedeemedCodes(now: Clock) {
  const redeemed = createRecent<true>(lifetime, most, now);

  return {
    /**
     * Exchanges the provider's code for the first redemption. A second exchange could make the provider
     * revoke the tokens of the first one.
     *
     * @param code.registration the audience of the registration
     * @param exchange calls `sent` once the code may have reached the provider. If the exchange fails
     *   without that, the code is forgotten and can be redeemed again.
     * @throws {RelayError} `code_redeemed` if the code is redeemed, or being redeemed
     * @see RFC 6749 §4.1.2
     */
    async redeem<Result>(
      code: { readonly registration: string; readonly providerCode: string },
      exchange: (sent: () => void) => Promise<Result>,
    ): Promise<Result> {
      // Not the relay's code: it may have another spelling.
      const key = keyOf(code.registration, code.providerCode);
      if (redeemed.get(key)) throw new RelayError('code_redeemed');
      redeemed.set(key, true);
      let isSent = false;
      try {
        return await exchange(() => {
          isSent = true;
        });
      } catch (error) {
        if (!isSent) redeemed.delete(key);
        throw error;
      }
    },
  };
}
