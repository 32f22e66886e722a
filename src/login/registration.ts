import { createAccess } from '../access/access.ts';
import { type Allow, allowsOf, neededScopes, withNeededScopes } from '../access/allow.ts';
import { scopesOfIdentity } from '../access/identity.ts';
import { isFailure } from '../failures/relay-error.ts';
import { hashKey } from '../memory/recent.ts';
import { authorizationRequest } from '../oauth/authorization-request.ts';
import type { AnswerRule } from '../oauth/token-answer.ts';
import type { CodeGrant, RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { Provider } from '../providers/provider.ts';
import type { Resource } from '../resources/resource.ts';
import type { Secret } from '../sealing/secret.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { ObserveCall } from '../upstream/messages.ts';
import { createProviderEndpoints } from '../upstream/provider-endpoints.ts';
import { derivedFrom, type ProviderSource } from '../upstream/provider-source.ts';
import type { AddressLimits } from './address-limits.ts';
import type { LoginMemory } from './memory.ts';
import type { LoginProtection } from './protection.ts';

/** A registration, whose provider discovery may exchange. */
export type RegistrationSource = ReturnType<typeof createRegistration>;

/** The relay as an OAuth client at one provider: all that a request needs of it. */
export type Registration = ReturnType<typeof registrationAt>;

/** What the provider and the operator have agreed on, and what the registration needs besides. */
interface RegistrationSettings {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly callbackUri: string;
  /** Who may log in. Undefined: everybody. */
  readonly allow: Allow | undefined;
  /** Undefined: the state check is off. */
  readonly protection: LoginProtection | undefined;
  readonly source: ProviderSource;
  readonly upstream: UpstreamClient;
  /** What states, codes, refresh tokens and sessions are bound to, at one provider. */
  readonly audienceAt: (provider: Provider) => string;
  readonly memory: LoginMemory;
  readonly limits: AddressLimits;
  /** Milliseconds that all questions about one person may take together. */
  readonly accessTime: number;
}

/** A front end or a resource, which may take only some of those who may log in at its registration. */
interface Guarded {
  /** Undefined: it takes all of them. */
  readonly allow: Allow | undefined;
}

export function createRegistration(by: RegistrationSettings) {
  return {
    /** The word in its paths: `/auth/<name>` and `/auth/<name>/callback`. */
    name: by.name,
    /** Undefined: the state check is off. */
    protection: by.protection,
    /**
     * The registration at its present provider. A request keeps it to its end: discovery may find another provider in the
     * meantime, and that must not get the codes and tokens of the earlier one.
     *
     * @throws {RelayError} `provider_undiscovered` or `provider_unsupported` until the issuer has answered once
     */
    current: derivedFrom(by.source, (provider) => registrationAt(by, provider)),
  };
}

function registrationAt(by: RegistrationSettings, provider: Provider) {
  const { name, clientId, clientSecret, callbackUri, allow } = by;
  const { upstream, memory, limits, accessTime } = by;
  const { goodTokens } = memory;
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
  const hashToken = (accessToken: string) => hashKey(name, accessToken);
  const rememberGood = (key: string) => goodTokens.set(key, true, 3_600_000);
  const isGood = (accessToken: string) => goodTokens.get(hashToken(accessToken)) === true;
  return {
    ...endpoints,
    name,
    provider,
    /** The exchanges of this process, one per login. */
    exchanges: memory.exchanges,
    /**
     * What states, codes, refresh tokens and sessions are bound to: the name and the client identifier of the
     * registration, and the provider that gets what they hold.
     */
    audience,
    /**
     * The authorization request without the parameters of one login: for a part of the scope, and with `refresh` also
     * for a refresh token.
     */
    authorizationRequestUrl: authorizationRequest(by, provider),
    /** @throws {RelayError} `overloaded` if no further code can be exchanged now */
    expectRoom: () => upstream.expectRoom('token'),
    /** Who may log in. Undefined: everybody. */
    allow,
    /** Each `allow` that a person has to match: that of this registration, and those of the front end and resource. */
    allowsAt,
    judge: access.judge,
    /**
     * Adds words of the whole scope to a part of it. Without them, the provider does not say who a person is, or
     * whether the person may log in.
     */
    scopeWithAccess(
      part: string | undefined,
      whole: string | undefined,
      frontEnd: Guarded,
      resource?: Resource,
    ): string | undefined {
      const allows = allowsAt(frontEnd, resource);
      const needed = allows.flatMap((one) => (one ? neededScopes(one, provider.access) : []));
      const more = resource ? scopesOfIdentity(resource.identity, provider.access) : [];
      return withNeededScopes(part, whole, [...needed, ...more]);
    },
    addressOf: limits.addressOf,
    limitExchange: limits.limitExchange,
    countRefresh: limits.countRefresh,
    limitRevocation: limits.limitRevocation,
    /** A good token is not limited: strangers at the same address must not keep a person out. */
    limitLookup<Result>(
      address: string | undefined,
      accessToken: string,
      lookUp: (isLimited: boolean) => Promise<Result>,
      group?: string,
    ): Promise<Result> {
      return isGood(accessToken) ? lookUp(false) : limits.limitLookup(address, lookUp, group);
    },
    /** Whether the provider has issued or accepted the token within the last hour, and has not refused it since. */
    isGood,
    /** Forgets that a token is good: the provider has refused it in a way that may mean its end. */
    doubt: (accessToken: string): void => void goodTokens.delete(hashToken(accessToken)),
    /** As the endpoint does, and remembers that the token is good. */
    async requestToken(
      grant: CodeGrant | RefreshGrant,
      observe: ObserveCall,
      rule?: AnswerRule,
    ): Promise<TokenResponse> {
      const token = await endpoints.requestToken(grant, observe, rule);
      rememberGood(hashToken(token.accessToken));
      return token;
    },
    /**
     * The page that logs a person out of the provider itself; undefined if it has none.
     *
     * @see OpenID Connect RP-Initiated Logout 1.0 §2
     */
    logoutUrl: provider.logoutUrl === 'off' ? undefined : provider.logoutUrl,
    /** As the endpoint does, and remembers whether the token is good. */
    async lookUpUser(
      accessToken: string,
      observe: ObserveCall,
      clientGone: AbortSignal | undefined,
    ): Promise<Uint8Array> {
      const key = hashToken(accessToken);
      try {
        const { body } = await endpoints.lookUpUser(accessToken, observe, clientGone);
        rememberGood(key);
        return body;
      } catch (error) {
        if (isFailure(error, 'token_invalid')) goodTokens.delete(key);
        throw error;
      }
    },
  };
}
