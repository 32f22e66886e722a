import type { Config } from '../config/config.ts';
import { failurePage } from '../delivery/failure-page.ts';
import { redirectDelivery } from '../delivery/redirect-delivery.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { FrontEnd } from '../login/login.ts';

/** The name of the front end that flags and variables describe. */
const onlyFrontEnd = 'app';

/** Creates the configured front end. */
export function createFrontEnd(config: Config): FrontEnd {
  const { origin, frontendUrl, tokenDelivery, errorDelivery } = config;
  const answer = errorDelivery === 'redirect' ? undefined : failureAnswer(config);
  return {
    name: onlyFrontEnd,
    origin,
    delivery: redirectDelivery(
      frontendUrl,
      tokenDelivery === 'fragment' ? 'fragment' : 'query',
      answer,
    ),
  };
}

/** How a failure is answered in place. */
export function failureAnswer(config: Config): AnswerFailure {
  if (config.errorDelivery !== 'page') return answerJson;
  const loginRoute = `/auth/${config.pathName}`;
  return failurePage({ ...config, loginRoute, loginUrl: config.baseUrl + loginRoute });
}
