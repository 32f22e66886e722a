import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from './context.ts';

const badGateway = 502;
const tooManyRequests = 429;

export type AnswerFailure = (ctx: Context, failure: RelayError) => void;

/** Answers a failure as the contract says: JSON, `{ "detail": … }`. */
export const answerJson: AnswerFailure = (ctx, failure) => {
  answerWith(ctx, failure, { detail: failure.detail });
};

export function answerWith(ctx: Context, failure: RelayError, body: string | object): void {
  ctx.set(failure.headers);
  ctx.status = failure.status;
  ctx.body = body;
}

/** An error together with the function that answers it, chosen by the innermost {@link answering}. */
class AnsweredError {
  readonly error: unknown;
  readonly answer: AnswerFailure;

  constructor(error: unknown, answer: AnswerFailure) {
    this.error = error;
    this.answer = answer;
  }
}

/** Chooses how failures of `work` are answered, unless a nested call chooses otherwise. */
export async function answering<Result>(answer: AnswerFailure, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AnsweredError ? error : new AnsweredError(error, answer);
  }
}

/** Catches and answers every error of a request. @param otherwise answers errors outside any {@link answering} */
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
 * Where an unexpected error was thrown. The message is left out because those of URL, header and JSON errors quote
 * their input, which may be secret.
 */
export function stackFrames(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return 'not an Error';
  const frames = error.stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return [error.name, ...frames].join('\n');
}

export function answerFailures(answer: AnswerFailure): Handler {
  return (_, next) => answering(answer, next);
}

/** Answers failures of the following handlers in the form of OAuth. @see RFC 6749 §5.2 */
export const answerOAuthErrors = answerPrograms(({ oauthError: error, detail }) => {
  return { error, error_description: detail, detail };
});

/** Answers failures of the following handlers with the relay's own codes, so that pages can tell them apart. */
export const answerSessionFailures = answerPrograms(({ code: error, detail }) => {
  return { error, detail };
});

/**
 * Answers failures to programs. A problem of the provider or of the relay's registration there is 502 for them, though
 * the contract prescribes 400 for the callback.
 */
function answerPrograms(bodyOf: (failure: RelayError) => object): Handler {
  return answerFailures((ctx, failure) => {
    answerWith(ctx, failure, bodyOf(failure));
    const { oauthError } = failure;
    const isNotOfCaller = oauthError === 'server_error' || oauthError === 'temporarily_unavailable';
    if (isNotOfCaller && ctx.status < 500 && ctx.status !== tooManyRequests) ctx.status = badGateway;
  });
}
