import { isSameSite } from '../../origins/domains.ts';
import { isAnyPort, isFamily, type OriginPattern } from '../../origins/origin-pattern.ts';
import { examplePage, originOf, type RedirectUri } from '../../origins/redirect-uri.ts';
import { isLoopback } from '../../urls.ts';
import { didYouMean, numbered, suggestion } from '../fault.ts';
import { reportOwnParameters } from '../provider.ts';
import { checked, type Reading } from '../reading.ts';
import { maxRedirectUriLength } from '../schemas.ts';
import type { CompleteValues } from '../settings/settings.ts';

/** The front end, and how a login reaches it. */
export interface FrontEndSettings extends Pick<CompleteValues, 'tokenDelivery'> {
  readonly origin: OriginPattern;
  /** Undefined: the front end has several origins, and takes OAuth logins only. */
  readonly frontendUrl: string | undefined;
  /** The pages that an OAuth login may return to. The first one is the default. */
  readonly redirectUris: readonly RedirectUri[];
  readonly errorDelivery: NonNullable<CompleteValues['errorDelivery']>;
}

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
      errorDelivery: values.errorDelivery ?? (hasSessions ? 'redirect' : 'json'),
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
}

/** What a front end may use. */
export interface FrontEndAccess {
  /** The names of registrations. */
  readonly registrations: readonly string[];
  /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
  readonly scope: string | undefined;
}

/**
 * Reads what a front end may use: by default, every registration with its own scope.
 *
 * @param registrations the names of all registrations
 */
export function readFrontEndAccess(
  { values: { providers: given, frontEndScope: scope }, fault }: Reading,
  registrations: readonly string[],
): FrontEndAccess {
  const named = given?.map((name) => {
    if (registrations.includes(name)) return name;
    const close = suggestion(name, registrations);
    fault('providers', `names a provider that is not configured${didYouMean(close)}`);
    // Otherwise, that one may be reported as unused, too.
    return close ?? name;
  });
  return { registrations: named ?? registrations, scope };
}
