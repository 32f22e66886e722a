import * as v from 'valibot';
import { isSameSite } from '../../origins/domains.ts';
import { hasStar, isAnyPort, type OriginPattern } from '../../origins/origin-pattern.ts';
import { originOf, type RedirectUri, withAnyPort } from '../../origins/redirect-uri.ts';
import { maxRedirectUriLength, nativeRedirectUri, queryFault } from '../../origins/schemas.ts';
import { overlap } from '../../paths.ts';
import { isLoopback, whyQueryIsTaken } from '../../urls.ts';
import { didYouMean, findSuggestion, withItemNumber } from '../fault.ts';
import type { Reading } from '../reading.ts';
import { completeValues, type FrontEndReading, type Readings } from '../readings.ts';
import { allowOf } from './access.ts';
import { checkMachine, forbidCredentials } from './machine.ts';
import { isWithoutState, refreshTokensOf } from './state.ts';

/** The parameters that plain logins add to the front end's URL. */
const deliveredParameters = ['access_token', 'state', 'error', 'error_description', 'request_id'];

/** Checks the addresses of a front end, and how it gets its tokens. */
export function checkFrontEnd(reading: FrontEndReading): void {
  const { values, describe, reportFault, isGiven } = reading;
  const { origin: origins = [], frontendUrl, tokenDelivery, kind } = values;
  if (kind === 'machine') {
    checkMachine(reading);
    return;
  }
  forbidCredentials(reading);
  if (kind === 'native' || values.clientKeyFile !== undefined) reportWithoutPage(reading);
  // An invalid kind may have been meant for a front end without a page.
  else if (kind !== undefined || !isGiven('kind')) reading.require('origin');
  if (origins.length > 1 && tokenDelivery && tokenDelivery !== 'cms') {
    reportFault('origin', `must be one origin, unless ${describe('tokenDelivery')} is cms`);
  }
  const isPage = kind === 'page' || !isGiven('kind');
  if (values.origins && isPage) reportFault('origins', 'needs kind: native');
  for (const origin of origins.filter(hasStar)) reportStar(reading, origin);
  if (origins.some(hasStar)) reading.forbid(['frontendUrl'], `must not be set if ${describe('origin')} has a *`);
  else if (origins.length > 1) {
    reading.forbid(['frontendUrl'], `must not be set if ${describe('origin')} has several: a CMS is at each of them`);
  } else if (frontendUrl && origins.length > 0 && frontendUrl.origin !== origins[0]) {
    reportFault('frontendUrl', `must be inside ${describe('origin')}`);
  }
  const taken = whyQueryIsTaken(frontendUrl, deliveredParameters);
  if (taken) reportFault('frontendUrl', taken);
  reportRedirectUris(reading);
  if (tokenDelivery === 'cms') {
    reading.warnOfUnused(['redirectUri'], ` with ${describe('tokenDelivery')} cms`);
  }
  if (tokenDelivery === 'session') reportSessionFrontEnd(reading);
  else if (tokenDelivery !== 'cms') reportNoRedirectUri(reading);
}

/** The parts of `FrontEndSettings` and `Api`. Call it only if there is no fault. */
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
  return {
    name,
    kind,
    /** Undefined without a page, and for a CMS at several addresses. */
    origin,
    /** For a native front end, the origins of its apps and extensions. */
    origins: kind === 'native' ? (values.origins ?? []) : origins,
    /** Undefined without a page, and with a page at each of several origins. */
    frontendUrl: origin === undefined || hasStar(origin) ? undefined : page,
    redirectUris: isCms || hasSessions ? [] : redirectUris.map((uri) => (kind === 'native' ? withAnyPort(uri) : uri)),
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
 * Checks an origin with a `*`. A token must not be in a URL there, and everybody who owns such an origin can log in. A
 * CMS gets its token in a message, and its refresh tokens only work at these origins.
 */
function reportStar(reading: FrontEndReading, origin: OriginPattern): void {
  const { relay, values, describe, reportFault, warn } = reading;
  const isCms = values.tokenDelivery === 'cms';
  if (values.tokenDelivery && values.tokenDelivery !== 'code' && !isCms) {
    reportFault('origin', `must not have a * unless ${describe('tokenDelivery')} is code or cms`);
  }
  if (values.refreshTokens === 'bearer' && !isCms) {
    reportFault('refreshTokens', `must not be bearer if ${describe('origin')} has a *`);
  }
  const isRemote = isAnyPort(origin) && !isLoopback(new URL(relay.baseUrl));
  const remote = isRemote ? `is for development, but ${relay.describe('baseUrl')} is not on this machine` : 'has a *';
  const who = isAnyPort(origin)
    ? "program that serves pages on a user's machine can log that user in"
    : `page under ${origin.replace(/.*\*\./, '')} can log its users in: anybody who can publish there, even from a branch, can act as them`;
  warn('origin', `${remote}: every ${who}`);
}

/** Reports that OAuth logins have no page to return to. Plain logins still work. */
function reportNoRedirectUri(reading: FrontEndReading): void {
  const { values, isGiven, describe, reportFault, warn } = reading;
  const why = whyNoRedirectUri(values.frontendUrl);
  if (why === undefined || isGiven('redirectUri')) return;
  const message = `${why}, so OAuth logins cannot return to it: give ${describe('redirectUri')}`;
  if (values.tokenDelivery === 'code') reportFault('frontendUrl', message);
  else if (!isWithoutState(reading)) warn('frontendUrl', message);
}

/** Why the front end URL cannot be the redirect URI; undefined if it can. `checkFrontEnd` refuses other parameters. */
function whyNoRedirectUri(frontendUrl: URL | undefined): string | undefined {
  const taken = ['code', 'iss'].find((name) => frontendUrl?.searchParams.has(name));
  if (taken) return `has ${taken} in its query`;
  const isLong = frontendUrl !== undefined && frontendUrl.href.length > maxRedirectUriLength;
  return isLong ? `is longer than ${maxRedirectUriLength} characters` : undefined;
}

function reportRedirectUris(reading: FrontEndReading): void {
  const { redirectUri: uris = [] } = reading.values;
  for (const [index, uri] of uris.entries()) {
    const faults = faultsOfUri(reading, uri);
    if (uris.indexOf(uri) < index) faults.push('is the same as an earlier one');
    for (const fault of faults) reading.reportFault('redirectUri', withItemNumber(index, uris.length, fault));
  }
}

function faultsOfUri({ values, describe }: FrontEndReading, uri: RedirectUri): string[] {
  const { kind } = values;
  const [origin] = values.origin ?? [];
  if (kind === 'native') {
    return (v.safeParse(nativeRedirectUri, uri).issues ?? []).map(({ message }) => message);
  }
  const faults: string[] = [];
  if (origin && originOf(uri) !== origin) {
    faults.push(`must be inside ${describe('origin')}${hasStar(origin) ? ', with its *' : ''}`);
  }
  const ofQuery = queryFault(uri);
  if (ofQuery) faults.push(ofQuery);
  return faults;
}

/** Checks a front end without a page: a native one, or one whose clients have identifiers made offline. */
function reportWithoutPage({ values, isGiven, describe, reportFault, forbid }: FrontEndReading): void {
  const isNative = values.kind === 'native';
  const why = isNative ? `${describe('kind')} native` : describe('clientKeyFile');
  if (values.tokenDelivery !== 'code') reportFault('tokenDelivery', `must be code with ${why}`);
  if (isNative) forbid(['origin', 'frontendUrl'], `must not be set with ${why}`);
  else if (!isGiven('origin')) {
    forbid(['redirectUri', 'frontendUrl'], `needs ${describe('origin')}`);
  }
}

/** Reports a page that is not on the relay's own site, because browsers would not send the cookies of sessions. */
function reportSessionFrontEnd(reading: FrontEndReading): void {
  const { relay, values, describe, reportFault, warnOfUnused } = reading;
  const [origin] = values.origin ?? [];
  const address = URL.parse(relay.baseUrl);
  const delivery = `${describe('tokenDelivery')} session`;
  if (address?.protocol === 'http:' && !isLoopback(address)) {
    relay.reportFault('baseUrl', `must start with https:// with ${delivery}`);
  }
  if (origin && address && !hasStar(origin) && !isSameSite(new URL(origin), address)) {
    reportFault(
      'origin',
      `must be on the same site as ${relay.describe('baseUrl')} with ${delivery}: both https, under one domain of your own, such as app.example.com and login.example.com`,
    );
  }
  warnOfUnused(['redirectUri'], ` with ${delivery}: there are no OAuth logins`);
  warnOfUnused(['refreshTokens'], ` with ${delivery}: its page gets no token`);
}

/** The parts of `Api`, from a valid entry of `proxy`. */
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

export function checkApis({ frontEnds }: Readings): void {
  const earlier: string[] = [];
  for (const { apis, registrations, values, describe } of frontEnds) {
    if (values.tokenDelivery !== 'session') {
      apis[0]?.reportEntryFault(`needs ${describe('tokenDelivery')} session`);
    }
    for (const api of apis) {
      api.require('path', 'url');
      reportRegistration(api, registrations);
      const { path } = api.values;
      if (path === undefined) continue;
      // A request must belong to one API only.
      if (earlier.some((other) => overlap(other, path))) {
        api.reportFault('path', 'is the same as another path, or one is below the other');
      }
      earlier.push(path);
    }
  }
}

/** Reports an API without a provider, or with one that its front end may not use. */
function reportRegistration(api: Reading<'proxy'>, registrations: readonly string[]): void {
  const name = api.values.provider;
  if (!api.isGiven('provider') && registrations.length > 1) {
    api.reportFault('provider', 'is required, because the front end may use several providers');
  }
  if (name === undefined || registrations.includes(name)) return;
  const close = findSuggestion(name, registrations);
  api.reportFault('provider', `names a provider that the front end may not use${didYouMean(close)}`);
}
