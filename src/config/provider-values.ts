import type { Provider } from '../providers/provider.ts';
import type { OptionName } from './settings/settings.ts';

/** The options that would give a provider by hand, with their texts. */
export function providerValues({
  authorizeUrl,
  tokenUrl,
  userUrl,
  revocation,
  scope,
  clientAuthentication,
  pkce,
}: Provider): Partial<Record<OptionName, string>> {
  return {
    authorizeUrl,
    tokenUrl,
    userUrl,
    ...(revocation && { revocationUrl: revocation.url }),
    ...(scope !== undefined && { scope }),
    tokenRequest: clientAuthentication,
    pkce: pkce ? 'on' : 'off',
  };
}
