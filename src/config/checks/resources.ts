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
  const used = new Set(frontEnds.flatMap((frontEnd) => checkFrontEndResources(frontEnd, resources)));
  checkMachineResources(frontEnds, resources);
  for (const [index, resource] of resources.entries()) {
    checkUrl(resource, resources.slice(0, index));
    checkProviderIsNamed(resource, names);
    checkUpstream(resource, readings);
    reportUnansweredClaims(resource, providers[names.indexOf(resource.registration)]);
    if (!used.has(resource.name) && resource.browser === undefined) {
      resource.reportEntryFault('is used by no front end, and opens to no browser');
    }
  }
}

/** The resource for `Config`. Call it only if there is no fault. */
export function resourceConfig(reading: ResourceReading) {
  const { name, registration, secrets } = reading;
  const values = completeValues(reading);
  return {
    name,
    url: values.url,
    registration,
    /** Who may use it; undefined if everybody who may log in at its front ends may. */
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
    /** How long browsers stay logged in; undefined if it opens to no browser. */
    browser: reading.browser && completeValues(reading.browser),
  };
}

/** Requires a `url`, and reports that an earlier resource has it, or has one that makes requests ambiguous. */
function checkUrl(resource: ResourceReading, earlier: readonly ResourceReading[]): void {
  const { values, reportFault } = resource;
  resource.require('url');
  const url = URL.parse(values.url ?? '');
  const isSame = (other: URL | null) => other && comparable(other.href) === comparable(url?.href ?? '');
  const same = earlier.find((other) => isSame(URL.parse(other.values.url ?? '')));
  if (same) reportFault('url', `is that of resources.${same.name}, too`);
  // The gateway finds the resource of a request by its path.
  const overlapping = earlier.find((other) => {
    const otherUrl = URL.parse(other.values.url ?? '');
    const isGatewayUsed = (values.upstream ?? other.values.upstream) !== undefined;
    if (!isGatewayUsed || !url || otherUrl?.host !== url.host || isSame(otherUrl)) return false;
    return overlap(otherUrl.pathname, url.pathname);
  });
  if (overlapping) reportFault('url', `contains that of resources.${overlapping.name}, or is below it`);
}

function checkProviderIsNamed({ isGiven, reportFault }: ResourceReading, registrations: readonly string[]): void {
  if (isGiven('provider') || registrations.length <= 1) return;
  reportFault('provider', 'is required, because there are several providers');
}

/** Reports an `upstream` that cannot be reached through `url`, or that must not get the provider's token. */
function checkUpstream(resource: ResourceReading, { relay, frontEnds }: Readings): void {
  const { name, values, isGiven, reportFault } = resource;
  const { upstream } = values;
  const url = URL.parse(values.url ?? '');
  const givesToken = values.token === 'provider';
  if (givesToken && !isGiven('upstream')) reportFault('token', 'is provider, which needs upstream');
  if (upstream === undefined) return;
  if (url !== null) checkGatewayPath(resource, url, upstream, relay.baseUrl, frontEnds);
  if (!givesToken) {
    resource.warnOfUnused(['openClients'], ' without token provider');
    return;
  }
  if (relay.values.insecureHttp === false && upstream.protocol === 'http:' && !isLoopback(upstream)) {
    reportFault('upstream', "must start with https:// or be on this machine: it gets the provider's token");
  }
  const openFrontEnd = frontEnds.find(({ clients, values }) => clients && values.resources?.includes(name));
  if (openFrontEnd && values.openClients !== true) {
    reportFault(
      'token',
      `is provider, but front-ends.${openFrontEnd.name} has unregistered clients, and each could act with the provider's token: to allow that, set open-clients: true`,
    );
  }
}

/** Reports a `url` that contains paths of the relay, or that ends with a slash where the upstream does not. */
function checkGatewayPath(
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
  const basePaths = login.pathname === '/' ? [] : [login.pathname];
  const apiPaths = frontEnds.flatMap(({ apis }) => apis.flatMap(({ values }) => values.path ?? []));
  const taken = [...ownPaths, ...basePaths, ...apiPaths].filter((path) => overlap(path, pathname));
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

/** Checks that the resources of a front end cover exactly its providers. @returns the names of its resources */
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
  const areAllKnown = used.length === new Set(named).size && used.every((resource) => resource.registration !== '');
  for (const registration of areAllKnown ? registrations : []) {
    if (used.some((resource) => resource.registration === registration)) continue;
    report(`has none of the provider ${registration}: name the others in providers`);
  }
  return meant;
}
