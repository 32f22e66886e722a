import { createLogins, type LoginMaterial } from './login-material.ts';
import { type ObligingProvider, startObligingProvider } from './provider.ts';
import type { Random } from './random.ts';
import { type RelayUnderAttack, startRelayUnderAttack, stateKey } from './relay.ts';
import type { Targets } from './rules.ts';

const clientId = 'client-1';
const baseUrl = 'https://relay.example';
const redirectUri = `${baseUrl}/auth/provider/callback`;

/** A relay, its provider, and what an attacker has to know of them. */
export interface Battlefield {
  readonly relay: RelayUnderAttack;
  readonly provider: ObligingProvider;
  readonly targets: Targets;
  readonly login: (random: Random) => LoginMaterial;
  close(): Promise<void>;
}

/** Starts a provider that answers well, and a relay that uses it. */
export async function openBattlefield(): Promise<Battlefield> {
  const provider = await startObligingProvider();
  const relay = await startRelayUnderAttack({
    origin: 'https://app.example',
    'base-url': baseUrl,
    'client-id': clientId,
    'authorize-url': `${provider.origin}/authorize`,
    'token-url': `${provider.origin}/token`,
    'user-url': `${provider.origin}/user`,
  });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
  });
  return {
    relay,
    provider,
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
