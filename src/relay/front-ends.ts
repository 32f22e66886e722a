import { cmsBackendOf } from '../config/cms-backend.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { cmsDelivery } from '../delivery/cms-delivery.ts';
import { codeDelivery } from '../delivery/code-delivery.ts';
import { inPlaceDelivery } from '../delivery/in-place-delivery.ts';
import { redirectDelivery } from '../delivery/redirect-delivery.ts';
import { sessionDelivery } from '../delivery/session-delivery.ts';
import type { Codes } from '../grants/codes.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { Delivery, FrontEnd, FrontEndRequest, FrontEnds } from '../login/front-end.ts';
import { isFamily, matches, matchesAny } from '../origins/origin-pattern.ts';
import { findRedirectUri } from '../origins/redirect-uri.ts';
import type { Sessions } from '../session/sessions.ts';
import { failurePageOf } from './failure-answers.ts';
import { issuesRefreshTokens } from './grants.ts';
import { audienceOf, frontEndsOf, issuerOf } from './registration-config.ts';

const unknownRequest: FrontEndRequest = { state: undefined, oauth: undefined, returnTo: undefined };

/**
 * The configured front ends that may use one registration.
 *
 * @param sessions undefined if no front end has sessions
 * @throws {Error} if there are none
 */
export function createFrontEnds(
  config: Config,
  registration: RegistrationConfig,
  codes: Codes,
  sessions: Sessions | undefined,
): FrontEnds {
  const users = frontEndsOf(config, registration);
  const byName = new Map(users.map((frontEnd) => [frontEnd.name, frontEnd]));
  const firstOf = (...deliveries: FrontEndConfig['tokenDelivery'][]) =>
    users.find(({ tokenDelivery }) => deliveries.includes(tokenDelivery));
  const firstCms = firstOf('cms');
  const first = firstOf('query', 'fragment', 'session') ?? firstCms ?? users[0];
  const [firstForOAuth, secondForOAuth] = users.filter(takesOAuth);
  if (first === undefined) throw new Error('no front end may use the registration');
  const create = (frontEnd: FrontEndConfig) =>
    createFrontEnd(config, registration, frontEnd, codes, sessions);
  return {
    // Created for each request: a thousand front ends at a hundred registrations would need much memory.
    find(name) {
      const found = byName.get(name);
      return found && create(found);
    },
    byDefault: create(first),
    byDefaultForOAuth: secondForOAuth ? undefined : firstForOAuth && create(firstForOAuth),
    firstCms: firstCms && create(firstCms),
    isOnlyOne: users.length === 1,
    hasOrigin: matchesAny(users.map(({ origin }) => origin)),
  };
}

function takesOAuth({ tokenDelivery }: FrontEndConfig): boolean {
  return ['query', 'fragment', 'code'].includes(tokenDelivery);
}

function createFrontEnd(
  config: Config,
  registration: RegistrationConfig,
  frontEnd: FrontEndConfig,
  codes: Codes,
  sessions: Sessions | undefined,
): FrontEnd {
  const { name, origin, redirectUris, scope, tokenDelivery } = frontEnd;
  const codeIssuer = {
    codes,
    issuer: issuerOf(config, registration),
    registration: audienceOf(registration),
    frontEnd: name,
  };
  const page = failurePageOf(config, registration, frontEnd);
  const hasSessions = tokenDelivery === 'session';
  const cmsBackend = tokenDelivery === 'cms' ? cmsBackendOf(registration)?.name : undefined;
  return {
    name,
    // The name alone would not do: an operator may give it to another page, or may have lost the domain.
    audience: `${name} ${origin}`,
    scope,
    redirectUris,
    hasOrigin: (given) => matches(origin, given),
    pkceRequired: tokenDelivery === 'code',
    takesOAuth: takesOAuth(frontEnd),
    // A session never gives its refresh token to the page, whatever pages get.
    asksForRefresh: hasSessions || issuesRefreshTokens(config),
    sessionOrigin: hasSessions ? origin : undefined,
    cmsBackend,
    answerInPlace: page,
    // Its origins, such as previews of branches, can have different authors.
    keyRequired: isFamily(origin),
    deliveryOf(request = unknownRequest) {
      const { oauth, state } = request;
      if (oauth === undefined) {
        if (cmsBackend !== undefined) return cmsDelivery({ backend: cmsBackend, origin });
        return plainDelivery(frontEnd, codeIssuer.registration, page, request, sessions);
      }
      // The configuration may have changed since the login was started.
      if (!takesOAuth(frontEnd)) return inPlaceDelivery(page, 'client_unauthorized');
      const isRegistered = findRedirectUri(oauth.redirectUri, redirectUris) !== undefined;
      if (!isRegistered) return inPlaceDelivery(page, 'redirect_uri_unknown');
      return codeDelivery(codeIssuer, oauth, state);
    },
  };
}

/** The delivery of a login that is not an OAuth request. */
function plainDelivery(
  { name, origin, frontendUrl: url, tokenDelivery, errorDelivery }: FrontEndConfig,
  registration: string,
  answerInPlace: AnswerFailure,
  { state, returnTo }: FrontEndRequest,
  sessions: Sessions | undefined,
): Delivery {
  if (tokenDelivery === 'code' || tokenDelivery === 'cms' || url === undefined) {
    return inPlaceDelivery(answerInPlace, 'pkce_required');
  }
  const answerFailure = { json: answerJson, page: answerInPlace, redirect: undefined }[
    errorDelivery
  ];
  if (tokenDelivery !== 'session') {
    return redirectDelivery({ url, part: tokenDelivery }, answerFailure, state);
  }
  if (sessions === undefined) throw new Error('a front end has sessions, but the relay has none');
  const { fail } = redirectDelivery({ url, part: 'query' }, answerFailure, state);
  // The front end may have another origin since the login was started.
  const page = returnTo?.startsWith(`${origin}/`) ? returnTo : url;
  return sessionDelivery(sessions, { registration, frontEnd: name }, page, fail);
}
