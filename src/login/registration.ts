import type { IncomingMessage } from 'node:http';
import { createAccess } from '../access/access.ts';
import { type Allow, withNeededScopes } from '../access/allow.ts';
import { RelayError } from '../errors.ts';
import { authorizationRequest } from '../oauth/authorization-request.ts';
import { withParameters } from '../oauth/query.ts';
import type { CodeGrant, RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { Provider } from '../providers/provider.ts';
import { keyOf } from '../recent.ts';
import type { Secret } from '../secret.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { ObserveCall } from '../upstream/messages.ts';
import { createProviderEndpoints } from '../upstream/provider-endpoints.ts';
import { derivedFrom, knownProvider, type ProviderSource } from '../upstream/provider-source.ts';
import type { ClientLimits, LoginMemory } from './memory.ts';
import type { LoginProtection } from './protection.ts';

/** The relay as an OAuth client at one provider: all that a request needs of it. */
export interface Registration extends ReturnType<typeof registrationOf> {
  /**
   * The registration with its present provider: what a request opened for one provider must not reach the next one,
   * which discovery may find while the request waits. Throws as `provider` does.
   */
  pinned(): Registration;
}

/** What the provider and the operator have agreed on, and what the registration needs besides. */
interface RegistrationSettings {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly redirectUri: string;
  /** Who may log in. Undefined: everybody. */
  readonly allow: Allow | undefined;
  /** Undefined: the state check is off. */
  readonly protection: LoginProtection | undefined;
  /** What is known of the provider. */
  readonly source: ProviderSource;
  /** Makes the calls to the provider. */
  readonly client: UpstreamClient;
  /** What states, codes, refresh tokens and sessions are bound to at a provider. */
  readonly audienceAt: (provider: Provider) => string;
  readonly memory: LoginMemory;
  readonly limits: ClientLimits;
  /** Milliseconds that all questions about one person may take together. */
  readonly accessTime: number;
}

export function createRegistration(by: RegistrationSettings): Registration {
  return {
    ...registrationOf(by),
    pinned: derivedFrom(by.source, (provider) =>
      createRegistration({ ...by, source: knownProvider(provider) }),
    ),
  };
}

function registrationOf(by: RegistrationSettings) {
  const { name, clientId, clientSecret, redirectUri, allow, protection } = by;
  const { source, client, audienceAt, memory, limits, accessTime } = by;
  const { exchanges, goodTokens } = memory;
  const endpoints = createProviderEndpoints(
    client,
    derivedFrom(source, (provider) => ({ ...provider, clientId, clientSecret, redirectUri })),
  );
  const request = derivedFrom(source, (provider) => authorizationRequest(by, provider));
  const keyOfToken = (accessToken: string) => keyOf(name, accessToken);
  const rememberGood = (key: string) => goodTokens.set(key, true, 3_600_000);
  const audience = derivedFrom(source, audienceAt);
  const access = createAccess(memory.access, endpoints, {
    provider: source.current,
    audience,
    timeout: accessTime,
  });
  const isGood = (accessToken: string) => goodTokens.get(keyOfToken(accessToken)) === true;
  return {
    ...endpoints,
    /** The word in its paths: `/auth/<name>` and `/auth/<name>/callback`. */
    name,
    /**
     * What states, codes, refresh tokens and sessions are bound to: its name, its client identifier, and the provider
     * that gets what they hold. Throws as `provider` does.
     */
    audience,
    /** Undefined: the state check is off. */
    protection,
    /** @throws {RelayError} `provider_undiscovered` until the issuer has answered once */
    provider: source.current,
    /**
     * The authorization request without the parameters of one login: for a part of the scope, and with `refresh` also
     * for a refresh token. Throws as `provider` does.
     */
    authorizationRequestUrl: (login: {
      readonly scope: string | undefined;
      readonly refresh: boolean;
    }) => request()(login),
    /** @throws {RelayError} `overloaded` if no further code can be exchanged now */
    expectRoom: () => client.expectRoom('token'),
    /** Who may log in. Undefined: everybody. */
    allow,
    verdictOn: access.verdictOn,
    /** A part of a scope, with the words by which the provider says who may log in at a front end. */
    scopeWithAccess: (
      part: string | undefined,
      whole: string | undefined,
      frontEnd: { readonly allow: Allow | undefined },
    ) => withNeededScopes(part, whole, [allow, frontEnd.allow], source.current().access),
    /** The exchanges of this process, one per login. */
    exchanges,
    limitExchange: limits.limitExchange,
    limitRevocation: limits.limitRevocation,
    /** A good token is not limited: strangers at the same address must not keep a person out. */
    limitLookup<Result>(
      request: IncomingMessage,
      accessToken: string,
      lookUp: (isLimited: boolean) => Promise<Result>,
    ): Promise<Result> {
      return isGood(accessToken) ? lookUp(false) : limits.limitLookup(request, lookUp);
    },
    /** Whether the provider has issued or accepted the token within the last hour, and has not refused it since. */
    isGood,
    /** As the endpoint does. The token is good from then on. */
    async requestToken(
      grant: CodeGrant | RefreshGrant,
      observe: ObserveCall,
    ): Promise<TokenResponse> {
      const token = await endpoints.requestToken(grant, observe);
      rememberGood(keyOfToken(token.accessToken));
      return token;
    },
    /**
     * The page that logs a person out of the provider itself; undefined if it has none. Throws as `provider`
     * does.
     *
     * @see OpenID Connect RP-Initiated Logout 1.0 §2
     */
    logoutUrl() {
      const { logoutUrl } = source.current();
      return logoutUrl && withParameters(logoutUrl, { client_id: clientId });
    },
    /** As the endpoint does. It says whether the token is good. */
    async lookUpUser(
      accessToken: string,
      observe: ObserveCall,
      clientGone: AbortSignal | undefined,
    ): Promise<Uint8Array> {
      const key = keyOfToken(accessToken);
      try {
        const { body } = await endpoints.lookUpUser(accessToken, observe, clientGone);
        rememberGood(key);
        return body;
      } catch (error) {
        if (error instanceof RelayError && error.code === 'token_invalid') goodTokens.delete(key);
        throw error;
      }
    },
  };
}
