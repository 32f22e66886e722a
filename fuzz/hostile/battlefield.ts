import { secretFile } from '../../test/harness/relay/relay-under-test.ts';
import { frontEnds, registrations, relayFile } from './front-ends.ts';
import { statesOf } from './login-material.ts';
import { createMaterial, type MaterialSource } from './material.ts';
import { type RelayUnderAttack, startRelayUnderAttack, stateKey } from './relay.ts';
import type { Targets } from './rules.ts';

const baseUrl = 'https://relay.example';
const issuer = `${baseUrl}/auth/provider`;

/** A relay and its provider, and what an attacker must know about them. */
export interface Battlefield {
  readonly relay: RelayUnderAttack;
  readonly targets: Targets;
  readonly material: MaterialSource;
  close(): Promise<void>;
}

/**
 * Starts a relay that uses the provider. Both end together.
 *
 * @param flags additional flags of the relay
 * @param settings additional settings of each front end
 */
export async function openBattlefield(
  provider: { readonly origin: string; close(): void },
  flags: Readonly<Record<string, string>> = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<Battlefield> {
  const relay = await startRelayUnderAttack({
    config: await secretFile(relayFile(provider.origin, settings)),
    'base-url': baseUrl,
    'refresh-tokens': 'bearer',
    ...flags,
  });
  const authorizationRequests = Object.entries(registrations).map(([name, clientId]) => {
    const redirectUri = `${baseUrl}/auth/${name}/callback`;
    const query = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri };
    return `${provider.origin}/authorize?${new URLSearchParams(query)}`;
  });
  const states = statesOf({ stateKey, baseUrl, providerOrigin: provider.origin });
  return {
    relay,
    targets: {
      authorizationRequests,
      issuer,
      providerOrigin: provider.origin,
      openState(state) {
        return states.provider.open(state) ?? states.house.open(state);
      },
    },
    material: await createMaterial({
      stateKey,
      baseUrl,
      tokenUrl: `${issuer}/token`,
      states,
      providerOrigin: provider.origin,
      pages: frontEnds.app.pages,
    }),
    async close() {
      await relay.stop();
      provider.close();
    },
  };
}
