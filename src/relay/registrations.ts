import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Config, RegistrationConfig } from '../config/config.ts';
import { RelayError } from '../errors.ts';
import { keyOf } from '../grants/recent.ts';
import { ownAddressBehind } from '../http/client-address.ts';
import type { CountRequest } from '../http/rate-limit.ts';
import { createLoginProtection } from '../login/protection.ts';
import type { RefusedExchanges } from '../login/refused-exchanges.ts';
import type { Registration } from '../login/registration.ts';
import type { States } from '../login/state.ts';
import { authorizationRequestUrl } from '../oauth/authorization-request.ts';
import { withParameters } from '../oauth/query.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { lookUpUser } from '../upstream/look-up-user.ts';
import { derivedFrom, knownProvider, type ProviderSource } from '../upstream/provider-source.ts';
import { revokeToken } from '../upstream/revoke-token.ts';
import { exchangeCode, refreshToken } from '../upstream/token-endpoint.ts';
import type { Memory } from './memory.ts';
import { audienceOf } from './registration-config.ts';

/**
 * Creates a configured registration.
 *
 * @param by.source what is known of its provider
 * @param by.client makes the calls to its provider
 */
export function createRegistration(
  registration: RegistrationConfig,
  by: {
    readonly config: Config;
    readonly source: ProviderSource;
    readonly client: UpstreamClient;
    readonly states: States;
    readonly memory: Memory;
    readonly now: Clock;
  },
): Registration {
  const { config, source, client, states, now } = by;
  const { logins, goodTokens } = by.memory;
  const { baseUrl } = config;
  const { name, clientId, clientSecret, redirectUri, stateCheck } = registration;
  const registered = { clientId, clientSecret, redirectUri };
  const endpoint = derivedFrom(source, (provider) => ({ ...provider, ...registered }));
  const keyOfToken = (accessToken: string) => keyOf(name, accessToken);
  const issued = <Token extends { readonly accessToken: string }>(token: Token): Token => {
    goodTokens.set(keyOfToken(token.accessToken), true);
    return token;
  };
  const isGood = (accessToken: string) => goodTokens.get(keyOfToken(accessToken)) === true;
  const limits = refusalLimits(config);
  const limitLookup = limits(logins.refusedLookups);
  return {
    name,
    audience: derivedFrom(source, (provider) => audienceOf(registration, provider)),
    pinned: derivedFrom(source, (provider) =>
      createRegistration(registration, { ...by, source: knownProvider(provider) }),
    ),
    protection:
      stateCheck === 'off'
        ? undefined
        : createLoginProtection({ stateCheck, baseUrl, redirectUri }, states, now),
    provider: source.current,
    authorizationRequestUrl: derivedFrom(source, (provider) =>
      authorizationRequestUrl(registered, provider),
    ),
    authorizationRequestUrlFor: ({ scope, refresh }) =>
      authorizationRequestUrl(registered, source.current(), { scope, refresh }),
    expectRoom: () => client.expectRoom('token'),
    exchanges: logins.exchanges,
    limitExchange: limits(logins.refusedExchanges, logins.countExchange),
    limitRevocation: limits(logins.refusedRevocations),
    limitLookup(request, accessToken, lookUp) {
      return isGood(accessToken) ? lookUp(false) : limitLookup(request, lookUp);
    },
    isGood,
    exchangeCode: async (grant, observe) =>
      issued(await exchangeCode(client, endpoint(), grant, observe)),
    refreshToken: async (grant, observe) =>
      issued(await refreshToken(client, endpoint(), grant, observe)),
    revokeToken: async (tokens, observe) => revokeToken(client, endpoint(), tokens, observe),
    logoutUrl() {
      const { logoutUrl } = source.current();
      return logoutUrl && withParameters(logoutUrl, { client_id: clientId });
    },
    callApi: async ({ headers, ...request }, observe) => {
      const { requestHeaders } = source.current();
      return client.stream({ ...request, headers: { ...requestHeaders, ...headers } }, observe);
    },
    async lookUpUser(accessToken, observe, clientGone) {
      const key = keyOfToken(accessToken);
      try {
        const record = await lookUpUser(client, source.current(), accessToken, observe, clientGone);
        goodTokens.set(key, true);
        return record;
      } catch (error) {
        if (error instanceof RelayError && error.code === 'token_invalid') goodTokens.delete(key);
        throw error;
      }
    },
  };
}

/** Exchanges of a client for each that may be refused. By default 300 in ten minutes: fewer than GitHub's 2,000 an hour. */
const exchangesPerRefusal = 30;
const tooManyExchanges =
  'Too many logins come from this address. Nothing is lost: try again after ten minutes at most.';

/** Says to the call whether it is limited. */
type Limit = <Result>(
  request: IncomingMessage,
  call: (isLimited: boolean) => Promise<Result>,
) => Promise<Result>;

/** Returns a function that limits what the provider refuses to a client. It also limits what `count` counts. */
function refusalLimits({ refusedExchanges: most, trustedProxies, behindUnknownProxy }: Config) {
  const ownAddressOf = ownAddressBehind(trustedProxies);
  return (refusals: RefusedExchanges, count?: CountRequest): Limit => {
    if (most === 0 || behindUnknownProxy) return (_request, call) => call(false);
    return (request, call) => {
      const address = ownAddressOf(request);
      if (address === undefined) return call(false);
      return refusals.limit(address, most, async () => {
        await count?.(address, exchangesPerRefusal * most, tooManyExchanges);
        return await call(true);
      });
    };
  };
}
