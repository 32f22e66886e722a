import type { IncomingMessage } from 'node:http';
import type { RevocableTokens } from '../oauth/revocation.ts';
import type { CodeGrant, RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { Provider } from '../providers/provider.ts';
import type { ObserveCall } from '../upstream/call.ts';
import type { StreamedRequest, StreamedResponse } from '../upstream/messages.ts';
import type { Exchanges } from './exchanges.ts';
import type { LoginProtection } from './protection.ts';

/** The relay as an OAuth client at one provider: all that a request needs of it. */
export interface Registration {
  /** The word in its paths: `/auth/<name>` and `/auth/<name>/callback`. */
  readonly name: string;
  /**
   * What states, codes, refresh tokens and sessions are bound to: its name, its client identifier, and the provider
   * that gets what they hold. Throws as `provider` does.
   */
  audience(): string;
  /**
   * The registration with its present provider: what a request opened for one provider must not reach the next one,
   * which discovery may find while the request waits. Throws as `provider` does.
   */
  pinned(): Registration;
  /** Undefined: the state check is off. */
  readonly protection: LoginProtection | undefined;
  /** @throws {RelayError} `provider_undiscovered` until the issuer has answered once */
  provider(): Provider;
  /** The authorization request without the parameters of one login. Throws as `provider` does. */
  authorizationRequestUrl(): string;
  /**
   * The same with another scope. With `refresh`, it also has what the provider needs to grant a refresh
   * token. Throws as `provider` does.
   */
  authorizationRequestUrlFor(request: {
    readonly scope: string | undefined;
    readonly refresh: boolean;
  }): string;
  /** @throws {RelayError} `overloaded` if no further code can be exchanged now */
  expectRoom(): void;
  /** Exchanges an authorization code. Throws as `provider` and the call itself do. */
  exchangeCode(grant: CodeGrant, observe: ObserveCall): Promise<TokenResponse>;
  /** Whether the provider has issued or accepted the token within the last hour, and has not refused it since. */
  isGood(accessToken: string): boolean;
  /** Asks for a new access token. Throws `refresh_refused`, and as `provider` and the call itself do. */
  refreshToken(grant: RefreshGrant, observe: ObserveCall): Promise<TokenResponse>;
  /**
   * Revokes the tokens of a login. Throws as `provider` and the call itself do.
   *
   * @throws {RelayError} `token_invalid` if the provider does not know the token
   */
  revokeToken(tokens: RevocableTokens, observe: ObserveCall): Promise<void>;
  /**
   * Runs an exchange, unless this client has made too many, or the provider has refused too many of them.
   * Waits while exchanges in flight may still reach the limit of refused ones.
   *
   * @throws {RelayError} `too_many_refusals` or `rate_limited`
   */
  limitExchange<Result>(request: IncomingMessage, exchange: () => Promise<Result>): Promise<Result>;
  /** The same for a revocation. Log-outs with dead tokens must not keep an address from logging in. */
  limitRevocation<Result>(
    request: IncomingMessage,
    revocation: () => Promise<Result>,
  ): Promise<Result>;
  /**
   * The same for a user lookup. A good token is not limited: strangers at the same address must not keep a
   * person out.
   */
  limitLookup<Result>(
    request: IncomingMessage,
    accessToken: string,
    lookUp: (isLimited: boolean) => Promise<Result>,
  ): Promise<Result>;
  /** The exchanges of this process, one per login. */
  readonly exchanges: Exchanges<TokenResponse>;
  /**
   * The page that logs a person out of the provider itself; undefined if it has none. Throws as `provider`
   * does.
   *
   * @see OpenID Connect RP-Initiated Logout 1.0 §2
   */
  logoutUrl(): string | undefined;
  /** Passes a request on to the provider's API. Throws as `provider` and the call itself do. */
  callApi(request: StreamedRequest, observe: ObserveCall): Promise<StreamedResponse>;
  /** Asks for the record of the token's user. Throws as `provider` and the call itself do. */
  lookUpUser(
    accessToken: string,
    observe: ObserveCall,
    clientGone: AbortSignal | undefined,
  ): Promise<Uint8Array>;
}
