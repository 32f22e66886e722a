import type { IncomingMessage } from 'node:http';
import type { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import type { CodeGrant, RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { RedirectUri } from '../origins/redirect-uri.ts';
import type { CmsBackend, Provider } from '../providers/provider.ts';
import type { ObserveCall } from '../upstream/call.ts';
import type { StreamedRequest, StreamedResponse } from '../upstream/streamed-messages.ts';
import type { Exchanges } from './exchanges.ts';
import type { LoginProtection } from './protection.ts';

/** The relay as an OAuth client at one provider: all that a request needs of it. */
export interface Registration {
  /** The word in its paths: `/auth/<name>` and `/auth/<name>/callback`. */
  readonly name: string;
  /** What codes and refresh tokens are bound to: its name and its client identifier. */
  readonly audience: string;
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
  /** Asks for a new access token. Throws `refresh_refused`, and as `provider` and the call itself do. */
  refreshToken(grant: RefreshGrant, observe: ObserveCall): Promise<TokenResponse>;
  /**
   * Revokes the tokens of a login. Throws as `provider` and the call itself do.
   *
   * @throws {RelayError} `token_invalid` if the provider does not know the token
   */
  revokeToken(tokens: RevocableTokens, observe: ObserveCall): Promise<void>;
  /**
   * Runs an exchange, unless the provider has refused too many exchanges of this client. Waits while
   * exchanges in flight may still reach the limit.
   *
   * @throws {RelayError} `too_many_refusals` or `rate_limited`
   */
  limitExchange<Result>(request: IncomingMessage, exchange: () => Promise<Result>): Promise<Result>;
  /** The same for a revocation. Log-outs with dead tokens must not keep an address from logging in. */
  limitRevocation<Result>(
    request: IncomingMessage,
    revocation: () => Promise<Result>,
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
    clientGone: AbortSignal,
  ): Promise<Uint8Array>;
}

/** A page or app that logs its users in. */
export interface FrontEnd {
  /** Its `client_id` towards the relay. */
  readonly name: string;
  /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
  readonly scope: string | undefined;
  /** Whether requests with this `Origin` are its own. */
  hasOrigin(origin: string): boolean;
  /** The pages that an OAuth request may name. */
  readonly redirectUris: readonly RedirectUri[];
  /** Whether it starts logins with OAuth requests only. */
  readonly pkceRequired: boolean;
  /** Whether it may start logins with OAuth requests. */
  readonly takesOAuth: boolean;
  /** Whether its logins ask the provider for a refresh token, if they are OAuth requests or have a session. */
  readonly asksForRefresh: boolean;
  /** The origin of its sessions' pages. Undefined: it has no sessions. */
  readonly sessionOrigin: string | undefined;
  /** The name of the backend in the configuration of its CMS. Undefined: it is not a CMS. */
  readonly cmsBackend: CmsBackend['name'] | undefined;
  /** Shows a failure that must not reach the front end itself. */
  readonly answerInPlace: AnswerFailure;
  /** Whether it gets refresh tokens only if it proves a key, whatever is granted to others. */
  readonly keyRequired: boolean;
  /**
   * How a login reaches the front end.
   *
   * @param request what the login was started with; undefined if that is not known
   */
  deliveryOf(request: FrontEndRequest | undefined): Delivery;
}

/** The front ends that may use one registration: at least one. */
export interface FrontEnds {
  /** The front end with this name. */
  find(name: string): FrontEnd | undefined;
  /** The front end of starts and callbacks that name none: the first one that takes plain logins, if any. */
  readonly byDefault: FrontEnd;
  /** The front end of OAuth requests that name none: the only one that takes them. Undefined: several do. */
  readonly byDefaultForOAuth: FrontEnd | undefined;
  /** The front end of starts by a CMS that name none: the first CMS, if there is one. */
  readonly firstCms: FrontEnd | undefined;
  /** Whether there is only one. */
  readonly isOnlyOne: boolean;
  /** Whether requests with this `Origin` come from one of them. */
  hasOrigin(origin: string): boolean;
}

/** What a front end asked for when it started a login. */
export interface FrontEndRequest {
  /** The front end's own `state`; undefined if it sent none. */
  readonly state: string | undefined;
  /** Undefined if the start was not an OAuth request. */
  readonly oauth: OAuthRequest | undefined;
  /** The page that a session begins at, inside the front end's origin. Undefined: the front end's main page. */
  readonly returnTo: string | undefined;
}

/** What an OAuth request asked for. @see RFC 6749 §4.1.1, RFC 7636 §4.3 */
export interface OAuthRequest {
  /** One of the front end's redirect URIs. */
  readonly redirectUri: string;
  /** An S256 challenge of 43 characters. */
  readonly codeChallenge: string;
}

/** How one login reaches its front end once it has ended. */
export interface Delivery {
  /** Whether it answers with redirects. Browsers keep those from a prefetch. */
  readonly redirects: boolean;
  /** Answers the callback of a login that the provider has granted. */
  succeed(ctx: Context, granted: Granted): Promise<void>;
  /** Answers a start or a callback that failed. */
  fail(ctx: Context, failure: RelayError): void;
}

/** What the provider has granted: a code that works once. */
interface Granted extends CodeGrant {
  /** Exchanges the code for a token. */
  exchange(): Promise<TokenResponse>;
}

/** A login whose callback comes from the browser that started it. */
export interface Login {
  /** 16 random bytes. */
  readonly id: Buffer;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The name of the front end. */
  readonly frontEnd: string;
  readonly request: FrontEndRequest;
  /** The PKCE verifier towards the provider. @see RFC 7636 §4.1 */
  readonly codeVerifier: string;
}
