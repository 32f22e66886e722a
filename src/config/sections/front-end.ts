import { httpUrl } from '../../urls.ts';
import { numbered, type Option } from '../option.ts';
import { checked, type Reading, reportOwnParameters } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** The front end, and how a login reaches it. */
export interface FrontEndSettings {
  readonly origin: string;
  readonly frontendUrl: string;
  /** The URLs that an OAuth login may return to, as `href`. The first one is the default. */
  readonly redirectUris: readonly string[];
  /** `code`: the front end takes OAuth logins only. */
  readonly tokenDelivery: 'query' | 'fragment' | 'code';
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
    help: 'origin of the front end, such as https://app.example.com',
    otherwise: 'required',
    schema: schemas.origin,
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
    otherwise: 'the origin',
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
    schema: schemas.httpUrls(maxRedirectUris, maxRedirectUriLength),
  },
  tokenDelivery: {
    flag: '--token-delivery',
    argument: '<how>',
    variable: 'TOKEN_DELIVERY',
    group: 'Front end',
    help: 'how the front end gets the token: query or fragment (in the front end URL), or code (by OAuth with PKCE only)',
    default: 'query',
    schema: schemas.oneOf(['query', 'fragment', 'code']),
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

/** Reads the section. The result gives its values; call it only if no fault was reported. */
export function readFrontEnd(reading: Reading): () => FrontEndSettings {
  const { values, sourceOf, describe, fault } = reading;
  if (sourceOf('origin') === undefined) fault('origin', 'is required');
  if (values.frontendUrl && values.origin && values.frontendUrl.origin !== values.origin) {
    fault('frontendUrl', `must be inside ${describe('origin')}`);
  }
  reportOwnParameters(reading, 'frontendUrl', deliveredParameters);
  reportRedirectUris(reading);
  const isUsable = sourceOf('redirectUri') !== undefined || isRedirectUri(reading);
  return () => {
    const origin = checked(values.origin);
    const frontendUrl = values.frontendUrl?.href ?? `${origin}/`;
    const defaults = isUsable ? [frontendUrl] : [];
    return {
      origin,
      frontendUrl,
      redirectUris: values.redirectUri?.map(({ href }) => href) ?? defaults,
      tokenDelivery: checked(values.tokenDelivery),
      errorDelivery: checked(values.errorDelivery),
    };
  };
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
  const urls = values.redirectUri ?? [];
  const hrefs = urls.map(({ href }) => href);
  for (const [index, { href, origin, searchParams }] of urls.entries()) {
    const report = (message: string) => fault('redirectUri', numbered(index, urls.length, message));
    if (values.origin && origin !== values.origin) report(`must be inside ${describe('origin')}`);
    const taken = responseParameters.find((parameter) => searchParams.has(parameter));
    if (taken) report(`must not have ${taken} in its query: the relay adds it`);
    if (hrefs.indexOf(href) < index) report('is the same as an earlier one');
  }
}
