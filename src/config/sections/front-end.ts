import { isAnyPort, isFamily, type OriginPattern } from '../../origins/origin-pattern.ts';
import { examplePage, originOf, type RedirectUri } from '../../origins/redirect-uri.ts';
import { originPattern } from '../../origins/schemas.ts';
import { httpUrl, isLoopback } from '../../urls.ts';
import { numbered, type Option } from '../option.ts';
import { checked, type Reading, reportOwnParameters } from '../reading.ts';
import * as schemas from '../schemas.ts';
import { reportSessionFrontEnd } from './sessions.ts';

/** The front end, and how a login reaches it. */
export interface FrontEndSettings {
  readonly origin: OriginPattern;
  /** Undefined: the front end has several origins, and takes OAuth logins only. */
  readonly frontendUrl: string | undefined;
  /** The pages that an OAuth login may return to. The first one is the default. */
  readonly redirectUris: readonly RedirectUri[];
  /**
   * `code`: the front end takes OAuth logins only. `session`: it never gets a token. `cms`: it is Decap CMS or
   * Sveltia CMS.
   */
  readonly tokenDelivery: 'query' | 'fragment' | 'code' | 'session' | 'cms';
  readonly errorDelivery: 'json' | 'page' | 'redirect';
}

const maxRedirectUris = 20;
const maxRedirectUriLength = 512;

/** The options that every relay needs. */
export const requiredFrontEndOptions = {
  origin: {
    flag: '--origin',
    argument: '<origin>',
    variable: 'FRONTEND_ORIGIN',
    group: 'Required',
    help: 'origin of the front end, such as https://app.example.com; with a * for one label (https://*.preview.example.com) or for any port (http://localhost:*)',
    otherwise: 'required',
    schema: originPattern,
  },
} as const satisfies Record<string, Option>;

/** The other options of {@link FrontEndSettings}. */
export const frontEndOptions = {
  frontendUrl: {
    flag: '--frontend-url',
    argument: '<url>',
    variable: 'FRONTEND_URL',
    group: 'Front end',
    help: 'page that receives the token; it must be inside the origin',
    otherwise: 'the origin; /admin/ there with --token-delivery cms',
    schema: httpUrl,
  },
  redirectUri: {
    flag: '--redirect-uri',
    argument: '<url>',
    variable: 'FRONTEND_REDIRECT_URI',
    group: 'Front end',
    help: 'page inside the origin that an OAuth login may return to; repeat the flag for several, or put spaces between them in the variable',
    otherwise: 'the front end URL',
    repeatable: true,
    schema: schemas.redirectUris(maxRedirectUris, maxRedirectUriLength),
  },
  tokenDelivery: {
    flag: '--token-delivery',
    argument: '<how>',
    variable: 'TOKEN_DELIVERY',
    group: 'Front end',
    help: 'how the front end gets the token: query or fragment (in the front end URL), code (by OAuth with PKCE only), session (not at all: a cookie of the relay holds it), or cms (in the popup of Decap CMS or Sveltia CMS)',
    default: 'query',
    schema: schemas.oneOf(['query', 'fragment', 'code', 'session', 'cms']),
  },
  errorDelivery: {
    flag: '--error-delivery',
    argument: '<how>',
    variable: 'ERROR_DELIVERY',
    group: 'Front end',
    help: 'how failures are answered: json; page (a page for people, JSON for programs); or redirect (a failed login goes to the front end with error, error_description and request_id)',
    default: 'json',
    schema: schemas.oneOf(['json', 'page', 'redirect']),
  },
} as const satisfies Record<string, Option>;

/** The parameters that a delivery adds to the front end's URL. */
const deliveredParameters = ['access_token', 'state', 'error', 'error_description', 'request_id'];

/** The parameters that an authorization response adds to a redirect URI. @see RFC 9207 §2 */
const responseParameters = ['code', 'state', 'iss', 'error', 'error_description', 'request_id'];

/**
 * Reads the section. The result gives its values; call it only if no fault was reported.
 *
 * @param baseUrl the relay's public address
 */
export function readFrontEnd(reading: Reading, baseUrl: string): () => FrontEndSettings {
  const { values, sourceOf, describe, fault, warn } = reading;
  if (sourceOf('origin') === undefined) fault('origin', 'is required');
  if (values.origin && isFamily(values.origin)) {
    reportFamily(reading, baseUrl, values.origin);
  } else if (values.frontendUrl && values.origin && values.frontendUrl.origin !== values.origin) {
    fault('frontendUrl', `must be inside ${describe('origin')}`);
  }
  reportOwnParameters(reading, 'frontendUrl', deliveredParameters);
  reportRedirectUris(reading);
  const isCms = values.tokenDelivery === 'cms';
  if (isCms && values.redirectUri) {
    warn('redirectUri', `has no effect with ${describe('tokenDelivery')} cms`);
  }
  const hasSessions = values.tokenDelivery === 'session';
  if (hasSessions) reportSessionFrontEnd(reading, baseUrl);
  const takesOAuth = !isCms && !hasSessions;
  const isUsable = takesOAuth && (sourceOf('redirectUri') !== undefined || isRedirectUri(reading));
  return () => {
    const origin = checked(values.origin);
    const page = values.frontendUrl?.href ?? `${origin}/${isCms ? 'admin/' : ''}`;
    return {
      origin,
      frontendUrl: isFamily(origin) ? undefined : page,
      redirectUris: isUsable ? (values.redirectUri ?? [page]) : [],
      tokenDelivery: checked(values.tokenDelivery),
      errorDelivery: checked(values.errorDelivery),
    };
  };
}

/** Reports what does not fit an origin with a `*`. */
function reportFamily(
  { values, sourceOf, describe, fault, warn }: Reading,
  baseUrl: string,
  origin: OriginPattern,
): void {
  if (values.tokenDelivery && values.tokenDelivery !== 'code') {
    fault('origin', `must not have a * unless ${describe('tokenDelivery')} is code`);
  }
  if (sourceOf('frontendUrl') !== undefined) {
    fault('frontendUrl', `must not be set if ${describe('origin')} has a *`);
  }
  const isRemote = isAnyPort(origin) && !isLoopback(new URL(baseUrl));
  const remote = isRemote
    ? `is for development, but ${describe('baseUrl')} is not on this machine`
    : 'has a *';
  const who = isAnyPort(origin)
    ? "program that serves pages on a user's machine can log that user in"
    : `page at a name under ${origin.replace(/.*\*\./, '')} can log its users in: everybody who can publish there, also from a branch, can act as them`;
  warn('origin', `${remote}: every ${who}`);
}

/** Whether the front end URL can be the redirect URI. If it cannot, plain logins still work. */
function isRedirectUri({ values, describe, fault, warn }: Reading): boolean {
  const { frontendUrl, tokenDelivery, stateCheck } = values;
  if (frontendUrl === undefined) return true;
  const taken = ['code', 'iss'].find((name) => frontendUrl.searchParams.has(name));
  const isLong = frontendUrl.href.length > maxRedirectUriLength;
  if (!taken && !isLong) return true;
  const what = taken
    ? `has ${taken} in its query`
    : `is longer than ${maxRedirectUriLength} characters`;
  const message = `${what}, so OAuth logins cannot return to it: give ${describe('redirectUri')}`;
  if (tokenDelivery === 'code') fault('frontendUrl', message);
  else if (stateCheck !== 'off') warn('frontendUrl', message);
  return false;
}

function reportRedirectUris({ values, describe, fault }: Reading): void {
  const uris = values.redirectUri ?? [];
  for (const [index, uri] of uris.entries()) {
    const report = (message: string) => fault('redirectUri', numbered(index, uris.length, message));
    if (values.origin && originOf(uri) !== values.origin) {
      const star = isFamily(values.origin) ? ', with its *' : '';
      report(`must be inside ${describe('origin')}${star}`);
    }
    const query = new URL(examplePage(uri)).searchParams;
    const taken = responseParameters.find((parameter) => query.has(parameter));
    if (taken) report(`must not have ${taken} in its query: the relay adds it`);
    if (uris.indexOf(uri) < index) report('is the same as an earlier one');
  }
}
