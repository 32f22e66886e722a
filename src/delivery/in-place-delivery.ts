import { type FailureCode, RelayError } from '../errors.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { Delivery } from '../login/front-end.ts';

/**
 * The delivery of logins that must not reach a front end: every answer is a failure, in place.
 *
 * @param why the failure of a login that the provider has granted
 */
export function inPlaceDelivery(answerFailure: AnswerFailure, why: FailureCode): Delivery {
  return {
    redirects: false,
    async succeed() {
      throw new RelayError(why);
    },
    fail: answerFailure,
  };
}
