import type { Config } from '../config/config.ts';
import type { Exchanges } from '../login/exchanges.ts';
import type { StateKeys } from '../login/keys.ts';
import type { Registration } from '../login/login.ts';
import { createLoginProtection } from '../login/protection.ts';
import { authorizationRequestUrl } from '../oauth/authorization-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { ProviderClient } from '../upstream/client.ts';
import { exchangeCode } from '../upstream/exchange-code.ts';
import { lookUpUser } from '../upstream/look-up-user.ts';
import { derivedFrom, type ProviderSource } from '../upstream/provider-source.ts';

/**
 * Creates the configured registration.
 *
 * @param now milliseconds since 1970
 */
export function createRegistration(
  { pathName: name, clientId, clientSecret, baseUrl, redirectUri, stateCheck }: Config,
  source: ProviderSource,
  client: ProviderClient,
  keys: StateKeys,
  exchanges: Exchanges<TokenResponse>,
  now: () => number,
): Registration {
  const registered = { clientId, clientSecret, redirectUri };
  const endpoint = derivedFrom(source, (provider) => ({ ...provider, ...registered }));
  const audience = { registration: name, clientId, baseUrl, redirectUri };
  return {
    name,
    protection:
      stateCheck === 'off'
        ? undefined
        : createLoginProtection({ stateCheck, ...audience }, keys, now),
    provider: source.current,
    authorizationRequestUrl: derivedFrom(source, (provider) =>
      authorizationRequestUrl(registered, provider),
    ),
    expectRoom: () => client.expectRoom('token'),
    exchanges,
    exchangeCode: async (grant, observe) => exchangeCode(client, endpoint(), grant, observe),
    lookUpUser: async (accessToken, observe, clientGone) =>
      lookUpUser(client, source.current(), accessToken, observe, clientGone),
  };
}
