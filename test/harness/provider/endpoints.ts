import { Secret } from '../../../src/secret.ts';
import type { UpstreamClient } from '../../../src/upstream/client.ts';
import {
  createProviderEndpoints,
  type RegisteredProvider,
} from '../../../src/upstream/provider-endpoints.ts';

const origin = 'https://provider.example';

const registered: RegisteredProvider = {
  tokenUrl: `${origin}/token?tenant=1`,
  userUrl: `${origin}/user`,
  clientAuthentication: 'body',
  clientId: 'client:id',
  clientSecret: new Secret('s%cret +'),
  redirectUri: 'https://login.example.com/auth/provider/callback',
};

/** The endpoints of a provider that differs from an ordinary one in what is given. */
export function endpointsOf(client: UpstreamClient, given: Partial<RegisteredProvider> = {}) {
  return createProviderEndpoints(client, () => ({ ...registered, ...given }));
}
