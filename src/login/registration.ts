import { createAccess } from '../access/access.ts';
import { type Allow, allowsOf, neededScopes, withNeededScopes } from '../access/allow.ts';
import { scopesOfIdentity } from '../access/identity.ts';
import { isFailure } from '../failures/relay-error.ts';
import { hashKey } from '../memory/expiring-map.ts';
import { createAuthorizationUrls } from '../oauth/authorization-request.ts';
import type { CodeGrant, RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { AnswerRule } from '../oauth/token-response-format.ts';
import type { Provider } from '../providers/provider.ts';
import type { Resource } from '../resources/resource.ts';
import type { Secret } from '../sealing/secret.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { ObserveCall } from '../upstream/messages.ts';
import { createProviderEndpoints, type ProviderEndpoints } from '../upstream/provider-endpoints.ts';
import { cacheByProvider, type ProviderSource } from '../upstream/provider-source.ts';
import type { AddressLimits } from './address-limits.ts';
import type { LoginMemory } from './memory.ts';
import type { LoginProtection } from './state-check.ts';

/** A registration whose provider may change, because discovery repeats. */
export type RegistrationSource = ReturnType<typeof createRegistration>;

/** The relay as an OAuth client at one provider. */
export type Registration = ReturnType<typeof registrationAt>;

interface RegistrationSettings {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly callbackUri: string;
  /** Undefined if everybody may log in. */
  readonly allow: Allow | undefined;
  readonly protection: LoginProtection | undefined;
  readonly source: ProviderSource;
  readonly upstream: UpstreamClient;
  readonly audienceAt: (provider: Provider) => string;
  readonly memory: LoginMemory;
  readonly limits: AddressLimits;
  /** Milliseconds that all questions about one person may take together. */
  readonly accessTime: number;
}

/** A front end or resource that may admit only some of the people of its registration. */
interface Guarded {
  /** Undefined if it admits everybody. */
  readonly allow: Allow | undefined;
}

/** Creates a registration, whose provider may not have been discovered yet. */
export function createRegistration(by: RegistrationSettings) {
  return {
    /** The word in its paths: `/auth/<name>`. */
    name: by.name,
    /** Undefined if the state check is off. */
    protection: by.protection,
    /**
     * The registration at its present provider. A request calls this once, because if discovery finds another provider
     * meanwhile, that provider must not get the codes and tokens of the earlier provider.
     *
     * @throws {RelayError} `provider_undiscovered` or `provider_unsupported` until the issuer has answered once
     */
    current: cacheByProvider(by.source, (provider) => registrationAt(by, provider)),
  };
}

function registrationAt(by: RegistrationSettings, provider: Provider) {
  const { name, clientId, clientSecret, callbackUri, allow } = by;
  const { upstream, memory, limits, accessTime } = by;
  const registered = { ...provider, clientId, clientSecret, callbackUri };
  const endpoints = createProviderEndpoints(upstream, registered);
  const audience = by.audienceAt(provider);
  const access = createAccess(memory.access, endpoints, {
    provider,
    clientId,
    audience,
    timeout: accessTime,
    now: memory.now,
  });
  const allowsAt = (...guarded: readonly (Guarded | undefined)[]) => allowsOf({ name, allow }, guarded);
  const goodTokens = createGoodTokens(memory, name);
  const { isGood } = goodTokens;
  return {
    ...endpoints,
    ...createCallsThatRemember(endpoints, goodTokens),
    name,
    provider,
    exchanges: memory.exchanges,
    /**
     * States, codes, refresh tokens and sessions are bound to this text. It contains the name and the client identifier
     * of the registration, and the provider, which gets what they contain.
     */
    audience,
    /**
     * Returns the URL of an authorization request, without the parameters of one login, for a `scope` (default: the
     * configured scope). With `refresh`, it also asks for a refresh token.
     */
    authorizationRequestUrl: createAuthorizationUrls(by, provider),
    /** @throws {RelayError} `overloaded` if no code can be exchanged now */
    expectRoom: () => upstream.expectRoom('token'),
    allow,
    /** Every `allow` that a person has to match: of this registration, of the front end, and of the resource. */
    allowsAt,
    judge: access.judge,
    /**
     * Adds to a narrower scope the words that the questions about a person need. Without them, `allow` would refuse
     * everybody.
     *
     * @param part the narrower scope; undefined if the provider decides which scope it grants
     * @param whole the configured or granted scope, which alone may give words to add
     */
    scopeWithAccess(
      part: string | undefined,
      whole: string | undefined,
      frontEnd: Guarded,
      resource?: Resource,
    ): string | undefined {
      const allows = allowsAt(frontEnd, resource);
      const needed = allows.flatMap((one) => (one ? neededScopes(one, provider.access) : []));
      const neededByResource = resource ? scopesOfIdentity(resource.identity, provider.access) : [];
      return withNeededScopes(part, whole, [...needed, ...neededByResource]);
    },
    addressOf: limits.addressOf,
    limitExchange: limits.limitExchange,
    countRefresh: limits.countRefresh,
    limitRevocation: limits.limitRevocation,
    /** Limits lookups, but not of a good token, so that strangers at the same address cannot lock its owner out. */
    limitLookup<Result>(
      address: string | undefined,
      accessToken: string,
      lookUp: (isLimited: boolean) => Promise<Result>,
      group?: string,
    ): Promise<Result> {
      return isGood(accessToken) ? lookUp(false) : limits.limitLookup(address, lookUp, group);
    },
    /** Whether the provider issued or accepted the token within the last hour, and has not refused it since. */
    isGood,
    /** Forgets that a token was good, because the provider has refused it in a way that may mean its end. */
    doubt: goodTokens.forget,
    /** The provider's own logout page; undefined if it has none. @see OpenID Connect RP-Initiated Logout 1.0 §2 */
    logoutUrl: provider.logoutUrl === 'off' ? undefined : provider.logoutUrl,
  };
}

/** Remembers which access tokens the provider issued or accepted within the last hour, and has not refused since. */
function createGoodTokens({ goodTokens }: LoginMemory, name: string) {
  const hashToken = (accessToken: string) => hashKey(name, accessToken);
  return {
    isGood: (accessToken: string) => goodTokens.get(hashToken(accessToken)) === true,
    remember: (accessToken: string): void => goodTokens.set(hashToken(accessToken), true, 3_600_000),
    forget: (accessToken: string): void => void goodTokens.delete(hashToken(accessToken)),
  };
}

/** The calls to the provider whose answers tell which access tokens are good. */
function createCallsThatRemember(
  endpoints: ProviderEndpoints,
  { remember, forget }: Pick<ReturnType<typeof createGoodTokens>, 'remember' | 'forget'>,
) {
  return {
    async requestToken(
      grant: CodeGrant | RefreshGrant,
      observe: ObserveCall,
      rule?: AnswerRule,
    ): Promise<TokenResponse> {
      const token = await endpoints.requestToken(grant, observe, rule);
      remember(token.accessToken);
      return token;
    },
    async lookUpUser(
      accessToken: string,
      observe: ObserveCall,
      clientGone: AbortSignal | undefined,
    ): Promise<Uint8Array> {
      try {
        const { body } = await endpoints.lookUpUser(accessToken, observe, clientGone);
        remember(accessToken);
        return body;
      } catch (error) {
        if (isFailure(error, 'token_invalid')) forget(accessToken);
        throw error;
      }
    },
  };
}
