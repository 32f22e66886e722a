import * as v from 'valibot';
import type { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { CodeGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { RedirectUri } from '../origins/redirect-uri.ts';
import type { CmsBackend } from '../providers/provider.ts';

/** A page or app that logs its users in. */
export interface FrontEnd {
  /** Its `client_id` towards the relay. */
  readonly name: string;
  /** What its codes, refresh tokens and sessions are bound to: its name and its origin. */
  readonly audience: string;
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
  /**
   * Reports what the provider has granted beyond the front end's scope, if it is more.
   *
   * @param granted undefined: the provider does not say
   * @param whole the registration's scope
   */
  reportScope(granted: string | undefined, whole: string | undefined): void;
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
  /** Whether there is a front end with this name. */
  has(name: string): boolean;
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

const oauthRequest = v.object({
  /** One of the front end's redirect URIs. */
  redirectUri: v.string(),
  /** An S256 challenge of 43 characters. */
  codeChallenge: v.string(),
});

/** The form of a {@link FrontEndRequest}. */
export const frontEndRequest = v.object({
  /** The front end's own `state`, if it sent one. */
  state: v.optional(v.string()),
  /** Set if the start was an OAuth request. */
  oauth: v.optional(oauthRequest),
  /** The page that a session begins at, inside the front end's origin. By default its main page. */
  returnTo: v.optional(v.string()),
});

/** What a front end asked for when it started a login. */
export type FrontEndRequest = v.InferOutput<typeof frontEndRequest>;

/** What an OAuth request asked for. @see RFC 6749 §4.1.1, RFC 7636 §4.3 */
export type OAuthRequest = v.InferOutput<typeof oauthRequest>;

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
