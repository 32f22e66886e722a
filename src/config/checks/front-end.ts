import { isSameSite } from '../../origins/domains.ts';
import { isAnyPort, isFamily, type OriginPattern } from '../../origins/origin-pattern.ts';
import { examplePage, originOf } from '../../origins/redirect-uri.ts';
import { isLoopback } from '../../urls.ts';
import { numbered } from '../fault.ts';
import { reportOwnParameters } from '../provider.ts';
import type { Reading } from '../reading.ts';
import { type FrontEndReading, valuesAt } from '../readings.ts';
import { maxRedirectUriLength } from '../schemas.ts';
import { apiConfig } from './apis.ts';

/** The parameters that a delivery adds to the front end's URL. */
const deliveredParameters = ['access_token', 'state', 'error', 'error_description', 'request_id'];

/** The parameters that an authorization response adds to a redirect URI. @see RFC 9207 §2 */
const responseParameters = ['code', 'state', 'iss', 'error', 'error_description', 'request_id'];

/**
 * Checks a front end, apart from what it may use.
 *
 * @param baseUrl the relay's public address
 */
export function checkFrontEnd(reading: Reading, baseUrl: string): void {
  const { values, sourceOf, describe, fault, warn } = reading;
  const { origin, frontendUrl, tokenDelivery } = values;
  if (sourceOf('origin') === undefined) fault('origin', 'is required');
  if (origin && isFamily(origin)) {
    reportFamily(reading, baseUrl, origin);
  } else if (frontendUrl && origin && frontendUrl.origin !== origin) {
    fault('frontendUrl', `must be inside ${describe('origin')}`);
  }
  reportOwnParameters(reading, 'frontendUrl', deliveredParameters);
  reportRedirectUris(reading);
  if (tokenDelivery === 'cms' && values.redirectUri) {
    warn('redirectUri', `has no effect with ${describe('tokenDelivery')} cms`);
  }
  if (tokenDelivery === 'session') reportSessionFrontEnd(reading, baseUrl);
  else if (tokenDelivery !== 'cms') reportNoRedirectUri(reading);
}

/** One page or app that logs its users in. No fault was reported. */
export function frontEndConfig(reading: FrontEndReading) {
  const { name, registrations, apis } = reading;
  const { origin, tokenDelivery, errorDelivery, ...values } = valuesAt('front-ends', reading);
  const [isCms, hasSessions] = [tokenDelivery === 'cms', tokenDelivery === 'session'];
  const page = values.frontendUrl?.href ?? `${origin}/${isCms ? 'admin/' : ''}`;
  const byDefault = whyNoRedirectUri(values.frontendUrl) === undefined ? [page] : [];
  return {
    /** Its `client_id` towards the relay. */
    name,
    origin,
    /** Undefined: the front end has several origins, and takes OAuth logins only. */
    frontendUrl: isFamily(origin) ? undefined : page,
    /** The pages that an OAuth login may return to. The first one is the default. */
    redirectUris: isCms || hasSessions ? [] : (values.redirectUri ?? byDefault),
    tokenDelivery,
    errorDelivery: errorDelivery ?? (hasSessions ? 'redirect' : 'json'),
    /** The names of the registrations that it may use. */
    registrations,
    /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
    scope: values.frontEndScope,
    /** Which refresh tokens it gets. */
    refreshTokens: refreshTokensOf(reading),
    /** What its pages may use of providers' APIs, with the access token of their session. */
    apis: apis.map((api) => apiConfig(api, registrations)),
  };
}

/** Which refresh tokens a front end gets. A CMS proves no key, and previews can have different authors. */
export function refreshTokensOf({ values }: Reading): 'bound' | 'bearer' | 'off' {
  const { origin, tokenDelivery, refreshTokens = 'bound' } = values;
  const { frontEndRefreshTokens: kind = refreshTokens } = values;
  if (kind === 'bound' && tokenDelivery === 'cms') return 'off';
  return kind === 'bearer' && origin && isFamily(origin) ? 'bound' : kind;
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
  if (values.frontEndRefreshTokens === 'bearer') {
    fault('frontEndRefreshTokens', `must not be bearer if ${describe('origin')} has a *`);
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

/** Reports that OAuth logins have no page to return to. Plain logins still work. */
function reportNoRedirectUri({ values, sourceOf, describe, fault, warn }: Reading): void {
  const why = whyNoRedirectUri(values.frontendUrl);
  if (why === undefined || sourceOf('redirectUri') !== undefined) return;
  const message = `${why}, so OAuth logins cannot return to it: give ${describe('redirectUri')}`;
  if (values.tokenDelivery === 'code') fault('frontendUrl', message);
  else if (values.stateCheck !== 'off') warn('frontendUrl', message);
}

/** Why the front end URL cannot be the redirect URI; undefined if it can. */
function whyNoRedirectUri(frontendUrl: URL | undefined): string | undefined {
  const taken = ['code', 'iss'].find((name) => frontendUrl?.searchParams.has(name));
  if (taken) return `has ${taken} in its query`;
  const isLong = frontendUrl !== undefined && frontendUrl.href.length > maxRedirectUriLength;
  return isLong ? `is longer than ${maxRedirectUriLength} characters` : undefined;
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

/**
 * Reports why a front end cannot have sessions: browsers send their cookies only to the relay, and only from
 * pages of the relay's own site.
 *
 * @param baseUrl the relay's public address
 */
function reportSessionFrontEnd(
  { values, sourceOf, describe, fault, warn }: Reading,
  baseUrl: string,
): void {
  const { origin } = values;
  const relay = URL.parse(baseUrl);
  const delivery = `${describe('tokenDelivery')} session`;
  if (relay?.protocol === 'http:' && !isLoopback(relay)) {
    fault('baseUrl', `must start with https:// with ${delivery}`);
  }
  if (origin && relay && !isFamily(origin) && !isSameSite(new URL(origin), relay)) {
    fault(
      'origin',
      `must be on the same site as ${describe('baseUrl')} with ${delivery}: both https, under one domain of your own, such as app.example.com and login.example.com`,
    );
  }
  if (sourceOf('redirectUri') !== undefined) {
    warn('redirectUri', `has no effect with ${delivery}: there are no OAuth logins`);
  }
  if (sourceOf('frontEndRefreshTokens') !== undefined) {
    warn('frontEndRefreshTokens', `has no effect with ${delivery}: its page gets no token`);
  }
}
