import type { Context } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { CodeGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';

/** How one login reaches its front end once it has ended. */
export interface Delivery {
  /** Whether it answers with redirects. Browsers keep those from a prefetch. */
  readonly redirects: boolean;
  /** Answers the callback of a login that the provider has granted. */
  succeed(ctx: Context, granted: Granted): Promise<void>;
  /** Answers a start or a callback that failed. */
  readonly fail: AnswerFailure;
}

/** What the provider has granted: a code that works once. */
interface Granted extends CodeGrant {
  /** Exchanges the code for a token. */
  exchange(): Promise<TokenResponse>;
  /** The token for the front end itself: its refresh token, if it gets one, is one of the relay. */
  forFrontEnd(token: TokenResponse): TokenResponse;
}
