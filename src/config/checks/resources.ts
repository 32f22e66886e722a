import { answerToClaim } from '../../access/identity.ts';
import { overlap, ownPaths } from '../../paths.ts';
import { comparable } from '../../resources/resource.ts';
import { isLoopback } from '../../urls.ts';
import { findEntryOrReport } from '../fault.ts';
import type { ProviderSettings } from '../provider-settings.ts';
import { completeValues, type FrontEndReading, type Readings, type ResourceReading } from '../readings.ts';
import { allowOf } from './access.ts';
import { checkMachineResources } from './machine.ts';

/**
 * Checks the resources, and the front ends that log in for them.
 *
 * @param providers in the order of the registrations; undefined after a fault
 */
export function checkResources(readings: Readings, providers: readonly (ProviderSettings | undefined)[]): void {
  const { registrations, resources, frontEnds } = readings;
  const names = registrations.map(({ name }) => name);
  const used = new Set(frontEnds.flatMap((one) => checkFrontEndResources(one, resources)));
  checkMachineResources(frontEnds, resources);
  for (const [index, resource] of resources.entries()) {
    reportPlace(resource, resources.slice(0, index), names);
    reportUpstream(resource, readings);
    reportUnansweredClaims(resource, providers[names.indexOf(resource.registration)]);
    if (!used.has(resource.name) && resource.browser === undefined) {
      resource.reportEntryFault('is used by no front end, and opens to no browser');
    }
  }
}

/** The parts of `Resource`. Call it only if there is no fault. */
export function resourceConfig(reading: ResourceReading) {
  const { name, registration, secrets } = reading;
  const values = completeValues(reading);
  return {
    name,
    url: values.url,
    registration,
    /** Undefined: everybody may use it who may log in at its front ends. */
    allow: allowOf(reading),
    identity: {
      claims: values.identity ?? [],
      groupsClaim: reading.allowWithGroupsClaim?.values.groupsClaim,
    },
    lifetime: values.lifetime,
    scope: values.scope,
    secrets: secrets ?? [],
    /** Undefined if requests to the resource do not pass the relay. */
    upstream: values.upstream && {
      url: values.upstream.href,
      givesToken: values.token === 'provider',
    },
    /** How long browsers stay logged in. Undefined: it opens to no browser. */
    browser: reading.browser && completeValues(reading.browser),
  };
}

/** Reports a `url` that belongs to another resource as well, and a missing provider. */
function reportPlace(
  { values, isGiven, reportFault, ...reading }: ResourceReading,
  earlier: readonly ResourceReading[],
  names: readonly string[],
): void {
  reading.require('url');
  const url = URL.parse(values.url ?? '');
  const isSame = (other: URL | null) => other && comparable(other.href) === comparable(url?.href ?? '');
  const same = earlier.find((one) => isSame(URL.parse(one.values.url ?? '')));
  if (same) reportFault('url', `is that of resources.${same.name}, too`);
  // The relay finds the resource of a request by its path. An equal url was reported already.
  const overlapping = earlier.find((one) => {
    const other = URL.parse(one.values.url ?? '');
    const eitherIsPassedOn = (values.upstream ?? one.values.upstream) !== undefined;
    if (!eitherIsPassedOn || !url || other?.host !== url.host || isSame(other)) return false;
    return overlap(other.pathname, url.pathname);
  });
  if (overlapping) reportFault('url', `contains that of resources.${overlapping.name}, or is below it`);
  if (!isGiven('provider') && names.length > 1) {
    reportFault('provider', 'is required, because there are several providers');
  }
}

/** Reports an `upstream` that cannot be reached through `url`, or that must not get the provider's token. */
function reportUpstream(resource: ResourceReading, { relay, frontEnds }: Readings): void {
  const { name, values, isGiven, reportFault } = resource;
  const { upstream } = values;
  const url = URL.parse(values.url ?? '');
  const givesToken = values.token === 'provider';
  if (givesToken && !isGiven('upstream')) reportFault('token', 'is provider, which needs upstream');
  if (upstream === undefined) return;
  if (url !== null) reportAddress(resource, url, upstream, relay.baseUrl, frontEnds);
  if (!givesToken) {
    resource.warnOfUnused(['openClients'], ' without token provider');
    return;
  }
  if (relay.values.insecureHttp === false && upstream.protocol === 'http:' && !isLoopback(upstream)) {
    reportFault('upstream', "must start with https:// or be on this machine: it gets the provider's token");
  }
  const open = frontEnds.find((one) => one.clients && one.values.resources?.includes(name));
  if (open && values.openClients !== true) {
    reportFault(
      'token',
      `is provider, but front-ends.${open.name} has unregistered clients, and each could act with the provider's token: to allow that, set open-clients: true`,
    );
  }
}

/** Reports a `url` that contains paths of the relay, or whose end differs from the upstream's. */
function reportAddress(
  { reportFault }: ResourceReading,
  { host, pathname }: URL,
  upstream: URL,
  baseUrl: string,
  frontEnds: Readings['frontEnds'],
): void {
  // The rest of a request's path is appended to the upstream's.
  const hasSlash = pathname.endsWith('/');
  if (!hasSlash && upstream.pathname === '/') {
    reportFault('url', `must have a slash at its end (${pathname}/), because the upstream is the root of its host`);
  } else if (hasSlash !== upstream.pathname.endsWith('/')) {
    const which = hasSlash ? 'a slash at its end, as url has' : 'no slash at its end, as url has none';
    reportFault('upstream', `must have ${which}`);
  }
  const login = URL.parse(baseUrl);
  if (login?.host !== host) return;
  const base = login.pathname === '/' ? [] : [login.pathname];
  const apis = frontEnds.flatMap((one) => one.apis.flatMap(({ values }) => values.path ?? []));
  const taken = [...ownPaths, ...base, ...apis].filter((path) => overlap(path, pathname));
  if (taken.length > 0) {
    reportFault('url', `contains paths of the relay at the host of the login, or is below one: ${taken.join(', ')}`);
  }
}

/** Reports claims that the provider of a resource cannot answer. */
function reportUnansweredClaims(
  { values: { identity: asked = [] }, allowWithGroupsClaim, registration, reportFault }: ResourceReading,
  settings: ProviderSettings | undefined,
): void {
  if (settings === undefined) return;
  const access = 'known' in settings ? settings.known.access : undefined;
  for (const claim of asked) {
    const answer = answerToClaim(claim, { groupsClaim: allowWithGroupsClaim?.values.groupsClaim }, access);
    if (answer.kind !== 'cannot') continue;
    const which = `has ${claim}, which the provider ${registration} does not say`;
    reportFault('identity', `${which}: ${answer.why}`);
  }
}

/** Checks that a front end with resources has one at each of its providers. @returns the names of its resources */
function checkFrontEndResources(
  { values, registrations, describe, reportFault }: FrontEndReading,
  resources: readonly ResourceReading[],
): readonly string[] {
  const { resources: named, tokenDelivery } = values;
  if (named === undefined) return [];
  const report = (message: string) => reportFault('resources', message);
  if (tokenDelivery !== 'code') {
    report(`needs ${describe('tokenDelivery')} code: every other way gives the provider's token`);
  }
  const known = resources.map(({ name }) => name);
  const meant = named.flatMap((name) => findEntryOrReport(name, known, 'resource', report) ?? []);
  const used = resources.filter(({ name }) => meant.includes(name));
  for (const { name, registration } of used) {
    if (registration === '' || registrations.includes(registration)) continue;
    report(`has ${name} of the provider ${registration}, which the front end may not use`);
  }
  // After another fault, it is not known which providers have no resource.
  const isClear = used.length === new Set(named).size && used.every((one) => one.registration !== '');
  for (const registration of isClear ? registrations : []) {
    if (used.some((one) => one.registration === registration)) continue;
    report(`has none of the provider ${registration}: name the others in providers`);
  }
  return meant;
}
