import type { Config, RegistrationConfig } from '../config/config.ts';
import { ownAddressBehind } from '../http/client-address.ts';
import type { Keys } from '../keys.ts';
import type { Registration } from '../login/login.ts';
import type { LoginMemory } from '../login/memory.ts';
import { createLoginProtection } from '../login/protection.ts';
import type { RefusedExchanges } from '../login/refused-exchanges.ts';
import { authorizationRequestUrl } from '../oauth/authorization-request.ts';
import { withParameters } from '../oauth/query.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { exchangeCode } from '../upstream/exchange-code.ts';
import { lookUpUser } from '../upstream/look-up-user.ts';
import { derivedFrom, type ProviderSource } from '../upstream/provider-source.ts';
import { refreshToken } from '../upstream/refresh-token.ts';
import { revokeToken } from '../upstream/revoke-token.ts';

/**
 * Creates a configured registration.
 *
 * @param now milliseconds since 1970
 */
export function createRegistration(
  config: Config,
  registration: RegistrationConfig,
  source: ProviderSource,
  client: UpstreamClient,
  keys: Keys,
  memory: LoginMemory,
  now: () => number,
): Registration {
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

/**
 * What codes, refresh tokens and sessions are bound to. The name alone would not do: an operator may give it to another
 * client, or move it to another issuer, and the tokens of the one must not reach the provider of the other.
 */
export function audienceOf(registration: RegistrationConfig): string {
  const { name, clientId } = registration;
  const issuer = issuerOfProvider(registration);
  return issuer === undefined ? `${name} ${clientId}` : `${name} ${issuer} ${clientId}`;
}

/** The configured issuer of a provider, if there is one. Client identifiers are unique only at one issuer. */
function issuerOfProvider({ provider }: RegistrationConfig): string | undefined {
  return 'discovered' in provider ? provider.discovered.issuer : undefined;
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
