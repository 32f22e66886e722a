import type { Config } from '../config/config.ts';
import { codeDelivery } from '../delivery/code-delivery.ts';
import { failurePage } from '../delivery/failure-page.ts';
import { inPlaceDelivery } from '../delivery/in-place-delivery.ts';
import { redirectDelivery } from '../delivery/redirect-delivery.ts';
import type { Codes } from '../grants/codes.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { FrontEnd } from '../login/login.ts';
import { audienceOf } from './registrations.ts';

/** The name of the front end that flags and variables describe. */
export const onlyFrontEnd = 'app';

/** Creates the configured front end. */
export function createFrontEnd(config: Config, codes: Codes): FrontEnd {
  const { origin, redirectUris, tokenDelivery } = config;
  const codeIssuer = {
    codes,
    issuer: issuerOf(config),
    registration: audienceOf(config),
    frontEnd: onlyFrontEnd,
  };
  const page = failurePageOf(config);
  return {
    name: onlyFrontEnd,
    origin,
    redirectUris,
    pkceRequired: tokenDelivery === 'code',
    deliveryOf({ oauth, state } = { oauth: undefined, state: undefined }) {
      if (oauth === undefined) {
        return plainDelivery(config, state) ?? inPlaceDelivery(page, 'pkce_required');
      }
      // The configuration may have changed since the login was started.
      const isRegistered = redirectUris.includes(oauth.redirectUri);
      if (!isRegistered) return inPlaceDelivery(page, 'redirect_uri_unknown');
      return codeDelivery(codeIssuer, oauth, state);
    },
  };
}

/** The relay's name towards its front ends. @see RFC 8414 §2, RFC 9207 §2 */
function issuerOf({ baseUrl, pathName }: Config): string {
  return `${baseUrl}/auth/${pathName}`;
}

/** How a failure is answered if no front end is known. */
export function failureAnswer(config: Config): AnswerFailure {
  return config.errorDelivery === 'page' ? failurePageOf(config) : answerJson;
}

/** A page for people, JSON for programs. */
export function failurePageOf(config: Config): AnswerFailure {
  const loginRoute = `/auth/${config.pathName}`;
  // Without PKCE, the start would be refused.
  const loginUrl = config.tokenDelivery === 'code' ? undefined : config.baseUrl + loginRoute;
  return failurePage({ ...config, loginRoute, loginUrl });
}

/** @returns undefined if every login must be an OAuth request */
function plainDelivery(config: Config, state: string | undefined) {
  const { frontendUrl: url, tokenDelivery: part, errorDelivery } = config;
  if (part === 'code') return undefined;
  const answer = errorDelivery === 'redirect' ? undefined : failureAnswer(config);
  return redirectDelivery({ url, part }, answer, state);
}
