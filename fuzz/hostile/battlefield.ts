import { createLogins, type LoginMaterial } from './login-material.ts';
import type { Random } from './random.ts';
import { type RelayUnderAttack, startRelayUnderAttack, stateKey } from './relay.ts';
import type { Targets } from './rules.ts';

const clientId = 'client-1';
const baseUrl = 'https://relay.example';
const redirectUri = `${baseUrl}/auth/provider/callback`;

/** A relay, and what an attacker has to know of them. */
export interface Battlefield {
  readonly relay: RelayUnderAttack;
  readonly targets: Targets;
  readonly login: (random: Random) => LoginMaterial;
  close(): Promise<void>;
}

/**
 * Starts a relay that uses the provider; both end together.
 *
 * @param flags what the relay is given beside the usual
 */
export async function openBattlefield(
  provider: { readonly origin: string; close(): void },
  flags: Readonly<Record<string, string>> = {},
): Promise<Battlefield> {
  const relay = await startRelayUnderAttack({
    origin: 'https://app.example',
    'base-url': baseUrl,
    'client-id': clientId,
    'authorize-url': `${provider.origin}/authorize`,
    'token-url': `${provider.origin}/token`,
    'user-url': `${provider.origin}/user`,
    ...flags,
  });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
  });
  return {
    relay,
    targets: {
      provider: `${provider.origin}/authorize?${query}`,
      frontEnd: 'https://app.example/',
    },
    login: createLogins({ stateKey, clientId, redirectUri }),
    async close() {
      await relay.stop();
      provider.close();
    },
  };
}
