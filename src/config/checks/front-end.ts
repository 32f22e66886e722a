import * as v from 'valibot';
import { hasStar, isAnyPort, type OriginPattern } from '../../origins/origin-pattern.ts';
import { findQueryFault, maxRedirectUriLength, nativeRedirectUri } from '../../origins/origin-schemas.ts';
import { isSameSite } from '../../origins/owned-domains.ts';
import { originOf, type RedirectUri, withAnyPort } from '../../origins/redirect-uri.ts';
import { doPathsOverlap } from '../../paths.ts';
import { isLoopback, whyQueryIsTaken } from '../../urls.ts';
import { didYouMean, findSuggestion, withItemNumber } from '../fault.ts';
import type { Reading } from '../map-reading.ts';
import { completeValues, type FrontEndReading, type Readings } from '../readings.ts';
import { allowOf } from './access.ts';
import { checkMachine, forbidCredentials } from './machine.ts';
import { isWithoutState, refreshTokensOf } from './state.ts';

/** The parameters that plain logins add to the front end's URL. */
const deliveredParameters = ['access_token', 'state', 'error', 'error_description', 'request_id'];

/** Checks the addresses of a front end, and how it gets its tokens. */
export function checkFrontEnd(reading: FrontEndReading): void {
  const { values, describe, isGiven } = reading;
  const { tokenDelivery, kind } = values;
  if (kind === 'machine') {
    checkMachine(reading);
    return;
  }
  forbidCredentials(reading);
  // An invalid kind may have been meant for programs, which have no page.
  const isPage = kind === 'page' || !isGiven('kind');
  if (kind === 'native' || values.clientKeyFile !== undefined) checkWithoutPage(reading);
  else if (isPage) reading.require('origin');
  checkOrigins(reading);
  if (values.origins && isPage) reading.reportFault('origins', 'needs kind: native');
  for (const origin of values.origin?.filter(hasStar) ?? []) checkOriginWithStar(reading, origin);
  checkFrontEndUrl(reading);
  checkRedirectUris(reading);
  if (tokenDelivery === 'cms') {
    reading.warnOfUnused(['redirectUri'], ` with ${describe('tokenDelivery')} cms`);
  } else if (tokenDelivery === 'session') checkSessionFrontEnd(reading);
  else reportMissingRedirectUri(reading);
}

/** Reports several origins, which only a CMS can have. */
function checkOrigins({ values, describe, reportFault }: FrontEndReading): void {
  const { origin: origins = [], tokenDelivery } = values;
  if (origins.length > 1 && tokenDelivery && tokenDelivery !== 'cms') {
    reportFault('origin', `must be one origin, unless ${describe('tokenDelivery')} is cms`);
  }
}

/** Reports a front end URL with several origins or a `*`, outside the origin, or with a parameter of plain logins. */
function checkFrontEndUrl({ values, describe, reportFault, forbid }: FrontEndReading): void {
  const { origin: origins = [], frontendUrl } = values;
  if (origins.some(hasStar)) forbid(['frontendUrl'], `must not be set if ${describe('origin')} has a *`);
  else if (origins.length > 1) {
    forbid(['frontendUrl'], `must not be set if ${describe('origin')} has several: a CMS is at each of them`);
  } else if (frontendUrl && origins.length > 0 && frontendUrl.origin !== origins[0]) {
    reportFault('frontendUrl', `must be inside ${describe('origin')}`);
  }
  const whyTaken = whyQueryIsTaken(frontendUrl, deliveredParameters);
  if (whyTaken) reportFault('frontendUrl', whyTaken);
}

/** The front end for `Config`. Call it only if there is no fault. */
export function frontEndConfig(reading: FrontEndReading) {
  const { name, registrations, apis } = reading;
  const { tokenDelivery, errorDelivery, ...values } = completeValues(reading);
  const { origin: origins = [], kind = 'page' } = reading.values;
  const origin = origins.length === 1 ? origins[0] : undefined;
  const isCms = tokenDelivery === 'cms';
  const hasSessions = tokenDelivery === 'session';
  const page = values.frontendUrl?.href ?? `${origin}/${isCms ? 'admin/' : ''}`;
  const isPageRedirectUri = origin !== undefined && !whyNoRedirectUri(values.frontendUrl);
  const redirectUris = values.redirectUri ?? (isPageRedirectUri ? [page] : []);
  const withNativePorts = kind === 'native' ? redirectUris.map(withAnyPort) : redirectUris;
  return {
    name,
    kind,
    /** Its origin; undefined without a page, and for a CMS at several origins. */
    origin,
    /** All its origins. For a native front end, these are the origins of its apps and extensions. */
    origins: kind === 'native' ? (values.origins ?? []) : origins,
    /** Its page; undefined without a page, and with a page at each of several origins. */
    frontendUrl: origin === undefined || hasStar(origin) ? undefined : page,
    redirectUris: isCms || hasSessions ? [] : withNativePorts,
    tokenDelivery,
    errorDelivery: errorDelivery ?? (hasSessions ? 'redirect' : 'json'),
    registrations,
    scope: values.scope,
    /** Empty if its logins are for the API of the provider. */
    resources: values.resources ?? [],
    refreshTokens: refreshTokensOf(reading),
    allow: allowOf(reading),
    clients: reading.clients && completeValues(reading.clients),
    clientKeys: reading.clientKeys,
    credentials: reading.credentials,
    apis: apis.map((api) => apiConfig(api, registrations)),
  };
}

/**
 * Checks an origin with a `*`. Whoever owns one of these origins can start a login there, so its token must not be in a
 * URL, and a refresh token must be bound to a key. A CMS is safe: it gets its token in a message, and its refresh tokens
 * only work at these origins.
 */
function checkOriginWithStar(reading: FrontEndReading, origin: OriginPattern): void {
  const { relay, values, describe, reportFault, warn } = reading;
  const isCms = values.tokenDelivery === 'cms';
  if (values.tokenDelivery && values.tokenDelivery !== 'code' && !isCms) {
    reportFault('origin', `must not have a * unless ${describe('tokenDelivery')} is code or cms`);
  }
  if (values.refreshTokens === 'bearer' && !isCms) {
    reportFault('refreshTokens', `must not be bearer if ${describe('origin')} has a *`);
  }
  if (!isAnyPort(origin)) {
    const domain = origin.replace(/.*\*\./, '');
    const danger = 'anybody who can publish there, even from a branch, can act as them';
    warn('origin', `has a *: every page under ${domain} can log its users in: ${danger}`);
    return;
  }
  const isRemote = !isLoopback(new URL(relay.baseUrl));
  const why = isRemote ? `is for development, but ${relay.describe('baseUrl')} is not on this machine` : 'has a *';
  warn('origin', `${why}: every program that serves pages on a user's machine can log that user in`);
}

/** Reports a front end URL that OAuth logins cannot return to, if there is no redirect URI. Plain logins still work. */
function reportMissingRedirectUri(reading: FrontEndReading): void {
  const { values, isGiven, describe, reportFault, warn } = reading;
  const why = whyNoRedirectUri(values.frontendUrl);
  if (why === undefined || isGiven('redirectUri')) return;
  const message = `${why}, so OAuth logins cannot return to it: give ${describe('redirectUri')}`;
  if (values.tokenDelivery === 'code') reportFault('frontendUrl', message);
  else if (!isWithoutState(reading)) warn('frontendUrl', message);
}

/** Says why the front end URL cannot be the redirect URI; undefined if it can. */
function whyNoRedirectUri(frontendUrl: URL | undefined): string | undefined {
  // `checkFrontEndUrl` has refused the other parameters that a login adds.
  const added = ['code', 'iss'].find((name) => frontendUrl?.searchParams.has(name));
  if (added) return `has ${added} in its query`;
  const isLong = frontendUrl !== undefined && frontendUrl.href.length > maxRedirectUriLength;
  return isLong ? `is longer than ${maxRedirectUriLength} characters` : undefined;
}

/** Checks each redirect URI on its own, and that none is repeated. */
function checkRedirectUris(reading: FrontEndReading): void {
  const { redirectUri: uris = [] } = reading.values;
  for (const [index, uri] of uris.entries()) {
    const faults = findFaultsOfUri(reading, uri);
    if (uris.indexOf(uri) < index) faults.push('is the same as an earlier one');
    for (const fault of faults) reading.reportFault('redirectUri', withItemNumber(index, uris.length, fault));
  }
}

/** Finds what is wrong with a redirect URI. @returns messages that complete a sentence about the URI */
function findFaultsOfUri({ values, describe }: FrontEndReading, uri: RedirectUri): string[] {
  const { kind } = values;
  const [origin] = values.origin ?? [];
  if (kind === 'native') {
    return (v.safeParse(nativeRedirectUri, uri).issues ?? []).map(({ message }) => message);
  }
  const faults: string[] = [];
  if (origin && originOf(uri) !== origin) {
    faults.push(`must be inside ${describe('origin')}${hasStar(origin) ? ', with its *' : ''}`);
  }
  const faultOfQuery = findQueryFault(uri);
  if (faultOfQuery) faults.push(faultOfQuery);
  return faults;
}

/** Checks a front end that needs no page: native programs, or clients whose identifiers are made offline. */
function checkWithoutPage({ values, isGiven, describe, reportFault, forbid }: FrontEndReading): void {
  const isNative = values.kind === 'native';
  const why = isNative ? `${describe('kind')} native` : describe('clientKeyFile');
  if (values.tokenDelivery !== 'code') reportFault('tokenDelivery', `must be code with ${why}`);
  if (isNative) forbid(['origin', 'frontendUrl'], `must not be set with ${why}`);
  else if (!isGiven('origin')) {
    forbid(['redirectUri', 'frontendUrl'], `needs ${describe('origin')}`);
  }
}

/** Checks a front end with sessions. Browsers send their cookies only if its page is on the relay's own site. */
function checkSessionFrontEnd(reading: FrontEndReading): void {
  const { relay, values, describe, reportFault, warnOfUnused } = reading;
  const [origin] = values.origin ?? [];
  const address = new URL(relay.baseUrl);
  const delivery = `${describe('tokenDelivery')} session`;
  if (address.protocol === 'http:' && !isLoopback(address)) {
    relay.reportFault('baseUrl', `must start with https:// with ${delivery}`);
  }
  if (origin && !hasStar(origin) && !isSameSite(new URL(origin), address)) {
    reportFault(
      'origin',
      `must be on the same site as ${relay.describe('baseUrl')} with ${delivery}: both https, under one domain of your own, such as app.example.com and login.example.com`,
    );
  }
  warnOfUnused(['redirectUri'], ` with ${delivery}: there are no OAuth logins`);
  warnOfUnused(['refreshTokens'], ` with ${delivery}: its page gets no token`);
}

/** An entry of `proxy` for `Config`. Call it only if there is no fault. */
function apiConfig(reading: Reading<'proxy'>, registrations: readonly string[]) {
  const { path, url, methods, requestHeaders, provider } = completeValues(reading);
  return {
    path,
    url: url.href,
    methods: methods ?? (['GET', 'HEAD'] as const),
    requestHeaders: requestHeaders ?? [],
    registration: provider ?? registrations[0] ?? '',
  };
}

/** Checks the parts of provider APIs (`proxy`) of all front ends. No two of them may share a path. */
export function checkApis({ frontEnds }: Readings): void {
  const earlierPaths: string[] = [];
  for (const { apis, registrations, values, describe } of frontEnds) {
    if (values.tokenDelivery !== 'session') {
      apis[0]?.reportEntryFault(`needs ${describe('tokenDelivery')} session`);
    }
    for (const api of apis) {
      api.require('path', 'url');
      checkProviderOfApi(api, registrations);
      const { path } = api.values;
      if (path === undefined) continue;
      if (earlierPaths.some((earlier) => doPathsOverlap(earlier, path))) {
        api.reportFault('path', 'is the same as another path, or one is below the other');
      }
      earlierPaths.push(path);
    }
  }
}

/** Reports an API without a provider, or with one that its front end may not use. */
function checkProviderOfApi(api: Reading<'proxy'>, registrations: readonly string[]): void {
  const name = api.values.provider;
  if (!api.isGiven('provider') && registrations.length > 1) {
    api.reportFault('provider', 'is required, because the front end may use several providers');
  }
  if (name === undefined || registrations.includes(name)) return;
  const close = findSuggestion(name, registrations);
  api.reportFault('provider', `names a provider that the front end may not use${didYouMean(close)}`);
}
