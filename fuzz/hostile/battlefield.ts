import { secretFile } from '../../test/harness/relay/relay-under-test.ts';
import { frontEnds, frontEndsFile } from './front-ends.ts';
import { createMaterial, type MaterialSource } from './material.ts';
import { type RelayUnderAttack, startRelayUnderAttack, stateKey } from './relay.ts';
import type { Targets } from './rules.ts';

const clientId = 'client-1';
const baseUrl = 'https://relay.example';
const issuer = `${baseUrl}/auth/provider`;
const redirectUri = `${issuer}/callback`;

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
 */
export async function openBattlefield(
  provider: { readonly origin: string; close(): void },
  flags: Readonly<Record<string, string>> = {},
): Promise<Battlefield> {
  const relay = await startRelayUnderAttack({
    config: await secretFile(frontEndsFile()),
    'base-url': baseUrl,
    'client-id': clientId,
    'authorize-url': `${provider.origin}/authorize`,
    'token-url': `${provider.origin}/token`,
    'user-url': `${provider.origin}/user`,
    'revocation-url': `${provider.origin}/revoke`,
    'refresh-tokens': 'bearer',
    scope: 'read write',
    ...flags,
  });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
  });
  const tokenUrl = `${issuer}/token`;
  return {
    relay,
    targets: {
      provider: `${provider.origin}/authorize?${query}`,
      issuer,
    },
    material: await createMaterial({
      stateKey,
      clientId,
      redirectUri,
      tokenUrl,
      pages: frontEnds.app.pages,
    }),
    async close() {
      await relay.stop();
      provider.close();
    },
  };
}
