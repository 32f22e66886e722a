import type { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import { answerWith } from '../http/error-responder.ts';

const badGateway = 502;
const tooManyRequests = 429;

/**
 * Answers a failure for programs. The contract's callback answers with 400 if the provider fails or has refused the
 * relay itself: programs get 502.
 */
export function answerProgram(ctx: Context, failure: RelayError, body: object): void {
  answerWith(ctx, failure, body);
  const { oauthError } = failure;
  const isOurs = oauthError === 'server_error' || oauthError === 'temporarily_unavailable';
  if (isOurs && ctx.status < 500 && ctx.status !== tooManyRequests) ctx.status = badGateway;
}
