import type { IncomingMessage } from 'node:http';
import type { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import type { CodeGrant, RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { Provider } from '../providers/provider.ts';
import type { ObserveCall } from '../upstream/client.ts';
import type { Exchanges } from './exchanges.ts';
import type { LoginProtection } from './protection.ts';

/** The relay as an OAuth client at one provider: all that a request needs of it. */
export interface Registration {
  /** The word in its paths: `/auth/<name>` and `/auth/<name>/callback`. */
  readonly name: string;
  /** Undefined: the state check is off. */
  readonly protection: LoginProtection | undefined;
  /** @throws {RelayError} `provider_undiscovered` until the issuer has answered once */
  provider(): Provider;
  /** The authorization request without the parameters of one login. Throws as `provider` does. */
  authorizationRequestUrl(): string;
  /** @throws {RelayError} `overloaded` if no further code can be exchanged now */
  expectRoom(): void;
  /** Exchanges an authorization code. Throws as `provider` and the call itself do. */
  exchangeCode(grant: CodeGrant, observe: ObserveCall): Promise<TokenResponse>;
  /** Asks for a new access token. Throws `refresh_refused`, and as `provider` and the call itself do. */
  refreshToken(grant: RefreshGrant, observe: ObserveCall): Promise<TokenResponse>;
  /** Revokes the tokens of a login. Throws as `provider` and the call itself do. */
  revokeToken(tokens: RevocableTokens, observe: ObserveCall): Promise<void>;
  /**
   * Runs an exchange, unless the provider has refused too many exchanges of this client. Waits while
   * exchanges in flight may still reach the limit.
   *
   * @throws {RelayError} `too_many_refusals` or `rate_limited`
   */
  limitExchange<Result>(request: IncomingMessage, exchange: () => Promise<Result>): Promise<Result>;
  /** The exchanges of this process, one per login. */
  readonly exchanges: Exchanges<TokenResponse>;
  /** Asks for the record of the token's user. Throws as `provider` and the call itself do. */
  lookUpUser(
    accessToken: string,
    observe: ObserveCall,
    clientGone: AbortSignal,
  ): Promise<Uint8Array>;
}

/** A page or app that logs its users in. */
export interface FrontEnd {
  readonly name: string;
  readonly origin: string;
  readonly delivery: Delivery;
}

/** How a login that has ended reaches its front end. */
export interface Delivery {
  /**
   * Answers the callback of a login that the provider has granted.
   *
   * @param login undefined if the callback was excused from the state check
   * @param exchange exchanges the provider's code. The code works once.
   */
  succeed(
    ctx: Context,
    login: Login | undefined,
    exchange: () => Promise<TokenResponse>,
  ): Promise<void>;
  /**
   * Answers a start or a callback that failed.
   *
   * @param login undefined until the state of the callback is verified
   */
  fail(ctx: Context, failure: RelayError, login: Login | undefined): void;
}

/** A login whose callback comes from the browser that started it. */
export interface Login {
  /** 16 random bytes. */
  readonly id: Buffer;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The front end's own `state`; undefined if it sent none. */
  readonly frontEndState: string | undefined;
  /** The PKCE verifier. @see RFC 7636 §4.1 */
  readonly codeVerifier: string;
}
