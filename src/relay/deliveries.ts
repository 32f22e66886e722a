import type { FrontEndConfig } from '../config/config.ts';
import { cmsDelivery } from '../delivery/cms-delivery.ts';
import { codeDelivery } from '../delivery/code-delivery.ts';
import { redirectDelivery } from '../delivery/redirect-delivery.ts';
import { sessionDelivery } from '../delivery/session-delivery.ts';
import { type FailureCode, RelayError } from '../errors.ts';
import type { Codes } from '../grants/codes.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { Delivery, FrontEnd, FrontEndRequest, OAuthRequest } from '../login/front-end.ts';
import { findRedirectUri } from '../origins/redirect-uri.ts';
import type { Sessions } from '../session/sessions.ts';
import { audienceOfFrontEnd } from './registration-config.ts';

/** What the deliveries of a front end need. */
export interface DeliveryContext {
  readonly frontEnd: FrontEndConfig;
  /** The name of the registration. */
  readonly registration: string;
  /** The audience of the registration. Throws as `provider` does. */
  readonly audience: () => string;
  /** The relay's name in `iss`. */
  readonly issuer: string;
  readonly codes: Codes;
  /** Undefined if no front end has sessions. */
  readonly sessions: Sessions | undefined;
  /** The name of the backend in the configuration of its CMS. Undefined: it is not a CMS. */
  readonly cmsBackend: FrontEnd['cmsBackend'];
  /** Shows a failure that must not reach the front end itself. */
  readonly answerInPlace: AnswerFailure;
}

/**
 * How a login reaches its front end.
 *
 * @param request what the login was started with; undefined if that is not known
 */
export function deliveryOf(context: DeliveryContext, request: FrontEndRequest = {}): Delivery {
  const { oauth, state } = request;
  return oauth === undefined
    ? plainDelivery(context, request)
    : oauthDelivery(context, oauth, state);
}

/** Whether a front end may start logins with OAuth requests. */
export function takesOAuth({ tokenDelivery }: FrontEndConfig): boolean {
  return ['query', 'fragment', 'code'].includes(tokenDelivery);
}

/** The delivery of an OAuth request. The configuration may have changed since the login was started. */
function oauthDelivery(
  { frontEnd, issuer, codes, answerInPlace }: DeliveryContext,
  oauth: OAuthRequest,
  state: string | undefined,
): Delivery {
  if (!takesOAuth(frontEnd)) return inPlaceDelivery(answerInPlace, 'client_unauthorized');
  const isRegistered = findRedirectUri(oauth.redirectUri, frontEnd.redirectUris) !== undefined;
  if (!isRegistered) return inPlaceDelivery(answerInPlace, 'redirect_uri_unknown');
  return codeDelivery({ codes, issuer, frontEnd: audienceOfFrontEnd(frontEnd) }, oauth, state);
}

/** The delivery of a login that is not an OAuth request. */
function plainDelivery(context: DeliveryContext, { state, returnTo }: FrontEndRequest): Delivery {
  const { frontEnd, registration, audience, sessions, cmsBackend, answerInPlace } = context;
  const { name, origin, frontendUrl: url, tokenDelivery, errorDelivery } = frontEnd;
  if (cmsBackend !== undefined) return cmsDelivery(cmsBackend, origin);
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
  return sessionDelivery(sessions, { registration, audience, frontEnd: name }, page, fail);
}

/** The delivery of a login that must not reach its front end: it fails for this reason, in place. */
function inPlaceDelivery(fail: AnswerFailure, why: FailureCode): Delivery {
  return {
    redirects: false,
    async succeed() {
      throw new RelayError(why);
    },
    fail,
  };
}
