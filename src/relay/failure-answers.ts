import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { failurePage } from '../delivery/failure-page.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { States } from '../login/state.ts';
import { frontEndsOf, issuerOf } from './registration-config.ts';

/** How failures at a registration are answered if no front end is known. */
export function failureAnswers(config: Config, registration: RegistrationConfig, states: States) {
  const [frontEnd = config.frontEnds[0]] = frontEndsOf(config, registration);
  const page = failurePageOf(config, registration, frontEnd, states);
  // A popup has only people in front of it.
  const isPage = frontEnd.errorDelivery === 'page' || frontEnd.tokenDelivery === 'cms';
  return {
    answerFailure: isPage ? page : answerJson,
    /** For an OAuth request whose front end or redirect URI is unknown: a page for people, whatever is configured. */
    answerInPlace: page,
  };
}

/** A page for people, JSON for programs. */
export function failurePageOf(
  config: Config,
  registration: RegistrationConfig,
  frontEnd: FrontEndConfig,
  states: States,
): AnswerFailure {
  const { origin, frontendUrl } = frontEnd;
  const loginRoute = `/auth/${registration.name}`;
  return (ctx, failure) => {
    const loginUrl = loginUrlOf(config, registration, frontEnd);
    failurePage({ origin, frontendUrl, loginRoute, loginUrl, states })(ctx, failure);
  };
}

/** @returns undefined if a person cannot start a login of the front end by a link */
function loginUrlOf(
  config: Config,
  registration: RegistrationConfig,
  { name, tokenDelivery }: FrontEndConfig,
): string | undefined {
  // Without PKCE, or without the window of a CMS, the login would fail.
  if (tokenDelivery === 'code' || tokenDelivery === 'cms') return undefined;
  const url = issuerOf(config, registration);
  return frontEndsOf(config, registration).length > 1 ? `${url}/${name}` : url;
}
