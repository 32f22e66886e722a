import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from './context.ts';

const badGateway = 502;
const tooManyRequests = 429;

/** Writes the response for a failure. */
export type AnswerFailure = (ctx: Context, failure: RelayError) => void;

/** Answers a failure as the contract says: JSON, `{ "detail": … }`. */
export const answerJson: AnswerFailure = (ctx, failure) => {
  answerWith(ctx, failure, { detail: failure.detail });
};

/** Answers a failure with its status, its headers and this body. */
export function answerWith(ctx: Context, failure: RelayError, body: string | object): void {
  ctx.set(failure.headers);
  ctx.status = failure.status;
  ctx.body = body;
}

/** An error together with the function that answers it, which the innermost {@link withFailureAnswer} chose. */
class ErrorWithAnswer {
  readonly error: unknown;
  readonly answer: AnswerFailure;

  constructor(error: unknown, answer: AnswerFailure) {
    this.error = error;
    this.answer = answer;
  }
}

/** Runs `work`, and chooses how its failures are answered, unless a nested call has chosen already. */
export async function withFailureAnswer<Result>(
  answer: AnswerFailure,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ErrorWithAnswer ? error : new ErrorWithAnswer(error, answer);
  }
}

/**
 * Catches and answers every error of a request.
 *
 * @param answerByDefault for errors outside any {@link withFailureAnswer}
 */
export function errorResponder(answerByDefault: AnswerFailure): Handler {
  return async (ctx: Context, next) => {
    try {
      await withFailureAnswer(answerByDefault, next);
    } catch (thrown) {
      if (!(thrown instanceof ErrorWithAnswer)) throw thrown;
      const { error, answer } = thrown;
      const isExpected = error instanceof RelayError;
      if (!isExpected) ctx.state.stack = stackFrames(error);
      const relayError = isExpected ? error : new RelayError('internal_error');
      const failure = ctx.state.codeMayBeSpent ? relayError.onceSpent() : relayError;
      ctx.state.failure = failure.code;
      ctx.state.providerError = failure.providerError;
      ctx.state.asked = failure.asked;
      ctx.state.known = failure.known;
      ctx.state.fields = failure.fields;
      answer(ctx, failure);
    }
  };
}

/**
 * Shows where an unexpected error was thrown. Its message is left out, because messages of URL, header and JSON errors
 * quote their input, which may be secret.
 */
export function stackFrames(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return 'not an Error';
  const frames = error.stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return [error.name, ...frames].join('\n');
}

/** Creates a handler that chooses how failures of the following handlers are answered. */
export function answerFailures(answer: AnswerFailure): Handler {
  return (_, next) => withFailureAnswer(answer, next);
}

/** Answers failures of the following handlers in the form of OAuth. @see RFC 6749 §5.2 */
export const answerOAuthErrors = answerWithBody(({ oauthError: error, detail }) => {
  return { error, error_description: detail, detail };
});

/** Answers failures of the following handlers with the relay's own codes, so that pages can tell them apart. */
export const answerSessionFailures = answerWithBody(({ code: error, detail }) => {
  return { error, detail };
});

/**
 * Answers failures to programs. A failure of the provider, or of the relay's registration there, is 502 for them. The
 * status in the failure is meant for the callback, for which the contract prescribes 400.
 */
function answerWithBody(createBody: (failure: RelayError) => object): Handler {
  return answerFailures((ctx, failure) => {
    answerWith(ctx, failure, createBody(failure));
    const { oauthError } = failure;
    const isCallersFault = oauthError !== 'server_error' && oauthError !== 'temporarily_unavailable';
    if (!isCallersFault && ctx.status < 500 && ctx.status !== tooManyRequests) ctx.status = badGateway;
  });
}
