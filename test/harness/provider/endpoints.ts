import type { RegisteredProvider } from '../../../src/oauth/client-authentication.ts';
import { Secret } from '../../../src/sealing/secret.ts';
import type { UpstreamClient } from '../../../src/upstream/client.ts';
import { createProviderEndpoints } from '../../../src/upstream/provider-endpoints.ts';

const origin = 'https://provider.example';

const registered: RegisteredProvider = {
  authorizeUrl: `${origin}/authorize`,
  tokenUrl: `${origin}/token?tenant=1`,
  userUrl: `${origin}/user`,
  tokenRequest: 'body',
  pkce: true,
  clientId: 'client:id',
  clientSecret: new Secret('s%cret +'),
  callbackUri: 'https://login.example.com/auth/provider/callback',
};

/** The endpoints of a provider that differs from an ordinary provider in the given members. */
export function endpointsOf(client: UpstreamClient, given: Partial<RegisteredProvider> = {}) {
  return createProviderEndpoints(client, { ...registered, ...given });
}
