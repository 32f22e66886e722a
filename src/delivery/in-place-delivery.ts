import { RelayError } from '../errors.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { Delivery } from '../login/login.ts';

/** The delivery of starts that their front end must not make: every answer is a failure, in place. */
export function inPlaceDelivery(answerFailure: AnswerFailure): Delivery {
  return {
    async succeed() {
      throw new RelayError('pkce_required');
    },
    fail: answerFailure,
  };
}
