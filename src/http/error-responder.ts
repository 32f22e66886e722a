import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from './context.ts';

const badGateway = 502;
const tooManyRequests = 429;

/** Answers a failure: status, headers and body. */
export type AnswerFailure = (ctx: Context, failure: RelayError) => void;

/** The contract's answer to a failure: JSON, `{ "detail": … }`. */
export const answerJson: AnswerFailure = (ctx, failure) => {
  answerWith(ctx, failure, { detail: failure.detail });
};

/** Answers a failure with this body. */
export function answerWith(ctx: Context, failure: RelayError, body: string | object): void {
  ctx.set(failure.headers);
  ctx.status = failure.status;
  ctx.body = body;
}

/** What was thrown, with how the innermost {@link answering} answers it. */
class AnsweredError {
  readonly error: unknown;
  readonly answer: AnswerFailure;

  constructor(error: unknown, answer: AnswerFailure) {
    this.error = error;
    this.answer = answer;
  }
}

/** Says how the failures of some work are answered. An inner part of the work may say otherwise. */
export async function answering<Result>(answer: AnswerFailure, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AnsweredError ? error : new AnsweredError(error, answer);
  }
}

/** Catches every error of a request, and answers it. @param otherwise answers what no {@link answering} has caught */
export function errorResponder(otherwise: AnswerFailure): Handler {
  return async (ctx: Context, next) => {
    try {
      await answering(otherwise, next);
    } catch (thrown) {
      if (!(thrown instanceof AnsweredError)) throw thrown;
      const { error, answer } = thrown;
      const known = error instanceof RelayError ? error : new RelayError('internal_error');
      if (known !== error) ctx.state.stack = stackFrames(error);
      const failure = ctx.state.codeMayBeSpent ? known.onceSpent() : known;
      ctx.state.failure = failure.code;
      ctx.state.providerError = failure.providerError;
      ctx.state.asked = failure.asked;
      ctx.state.fields = failure.fields;
      answer(ctx, failure);
    }
  };
}

/**
 * Where an unexpected error was thrown. The message is left out: those of URL, header and JSON errors
 * quote input that must not reach a log.
 */
export function stackFrames(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return 'not an Error';
  const frames = error.stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return [error.name, ...frames].join('\n');
}

/** Answers the failures of everything that follows. */
export function answerFailures(answer: AnswerFailure): Handler {
  return (_, next) => answering(answer, next);
}

/** Answers the failures of everything that follows as OAuth clients read them. @see RFC 6749 §5.2 */
export const answerOAuthErrors = answerPrograms(({ oauthError: error, detail }) => {
  return { error, error_description: detail, detail };
});

/** Answers the failures of everything that follows with their codes, for pages that tell them apart. */
export const answerSessionFailures = answerPrograms(({ code: error, detail }) => {
  return { error, detail };
});

/**
 * Answers failures for programs. The contract's callback answers with 400 if the provider fails or has refused the
 * relay itself: programs get 502.
 */
function answerPrograms(bodyOf: (failure: RelayError) => object): Handler {
  return answerFailures((ctx, failure) => {
    answerWith(ctx, failure, bodyOf(failure));
    const { oauthError } = failure;
    const isNotOfCaller = oauthError === 'server_error' || oauthError === 'temporarily_unavailable';
    if (isNotOfCaller && ctx.status < 500 && ctx.status !== tooManyRequests) ctx.status = badGateway;
  });
}
