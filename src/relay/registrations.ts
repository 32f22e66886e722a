import type { Config, RegistrationConfig } from '../config/config.ts';
import { ownAddressBehind } from '../http/client-address.ts';
import type { Keys } from '../keys.ts';
import type { LoginMemory } from '../login/memory.ts';
import { createLoginProtection } from '../login/protection.ts';
import type { RefusedExchanges } from '../login/refused-exchanges.ts';
import type { Registration } from '../login/registration.ts';
import { authorizationRequestUrl } from '../oauth/authorization-request.ts';
import { withParameters } from '../oauth/query.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { exchangeCode } from '../upstream/exchange-code.ts';
import { lookUpUser } from '../upstream/look-up-user.ts';
import { derivedFrom, type ProviderSource } from '../upstream/provider-source.ts';
import { refreshToken } from '../upstream/refresh-token.ts';
import { revokeToken } from '../upstream/revoke-token.ts';
import { audienceOf, issuerOfProvider } from './registration-config.ts';

/**
 * Creates a configured registration.
 *
 * @param by.source what is known of its provider
 * @param by.client makes the calls to its provider
 * @param by.now milliseconds since 1970
 */
export function createRegistration(
  registration: RegistrationConfig,
  by: {
    readonly config: Config;
    readonly source: ProviderSource;
    readonly client: UpstreamClient;
    readonly keys: Keys;
    readonly memory: LoginMemory;
    readonly now: () => number;
  },
): Registration {
  const { config, source, client, keys, memory, now } = by;
  const { baseUrl } = config;
  const { name, clientId, clientSecret, redirectUri, stateCheck } = registration;
  const registered = { clientId, clientSecret, redirectUri };
  const endpoint = derivedFrom(source, (provider) => ({ ...provider, ...registered }));
  const issuer = issuerOfProvider(registration);
  const audience = { registration: name, clientId, issuer, baseUrl, redirectUri };
  return {
    name,
    audience: audienceOf(registration),
    protection:
      stateCheck === 'off'
        ? undefined
        : createLoginProtection({ stateCheck, ...audience }, keys.state, now),
    provider: source.current,
    authorizationRequestUrl: derivedFrom(source, (provider) =>
      authorizationRequestUrl(registered, provider),
    ),
    authorizationRequestUrlFor: ({ scope, refresh }) =>
      authorizationRequestUrl(registered, source.current(), { scope, refresh }),
    expectRoom: () => client.expectRoom('token'),
    exchanges: memory.exchanges,
    limitExchange: refusalLimit(config, memory.refusedExchanges),
    limitRevocation: refusalLimit(config, memory.refusedRevocations),
    exchangeCode: async (grant, observe) => exchangeCode(client, endpoint(), grant, observe),
    refreshToken: async (grant, observe) => refreshToken(client, endpoint(), grant, observe),
    revokeToken: async (tokens, observe) => revokeToken(client, endpoint(), tokens, observe),
    logoutUrl() {
      const { logoutUrl } = source.current();
      return logoutUrl && withParameters(logoutUrl, { client_id: clientId });
    },
    callApi: async ({ headers, ...request }, observe) => {
      const { requestHeaders } = source.current();
      return client.stream({ ...request, headers: { ...requestHeaders, ...headers } }, observe);
    },
    lookUpUser: async (accessToken, observe, clientGone) =>
      lookUpUser(client, source.current(), accessToken, observe, clientGone),
  };
}

function refusalLimit(
  { refusedExchanges: most, trustedProxies, behindUnknownProxy }: Config,
  refusals: RefusedExchanges,
): Registration['limitExchange'] {
  if (most === 0 || behindUnknownProxy) return (_request, exchange) => exchange();
  const ownAddressOf = ownAddressBehind(trustedProxies);
  return (request, exchange) => {
    const address = ownAddressOf(request);
    return address === undefined ? exchange() : refusals.limit(address, most, exchange);
  };
}
