import { answerToClaim } from '../../access/identity.ts';
import { overlap, ownPaths } from '../../paths.ts';
import { comparable } from '../../resources/resource.ts';
import { isLoopback } from '../../urls.ts';
import { findEntry } from '../fault.ts';
import type { ProviderSettings } from '../provider-settings.ts';
import { completeValues, type FrontEndReading, type Readings, type ResourceReading } from '../readings.ts';
import { allowOf } from './access.ts';
import { checkMachineResources } from './machine.ts';

/**
 * Checks the resources, and the front ends that log in for them.
 *
 * @param providers in the order of the registrations; undefined: it has a fault
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
    if (!used.has(resource.name)) resource.faultOfEntry('is used by no front end');
  }
}

/** What `Resource` is made of. Call it only if no fault was reported. */
export function resourceConfig(reading: ResourceReading) {
  const { name, registration, secrets } = reading;
  const values = completeValues(reading);
  return {
    name,
    url: values.url,
    registration,
    /** Who may use it. Undefined: all who may log in at its front ends. */
    allow: allowOf(reading),
    identity: {
      claims: values.identity ?? [],
      groupsClaim: reading.claiming?.values.groupsClaim,
    },
    lifetime: values.lifetime,
    scope: values.scope,
    secrets: secrets ?? [],
    /** The server that the relay stands in front of. Undefined: requests to the resource do not pass the relay. */
    upstream: values.upstream && {
      url: values.upstream.href,
      givesToken: values.token === 'provider',
    },
  };
}

/** Reports a `url` that is not the resource's alone, and a provider that is missing. */
function reportPlace(
  { values, sourceOf, fault, ...reading }: ResourceReading,
  earlier: readonly ResourceReading[],
  names: readonly string[],
): void {
  reading.require('url');
  const url = URL.parse(values.url ?? '');
  const isSame = (other: URL | null) => other && comparable(other.href) === comparable(url?.href ?? '');
  const same = earlier.find((one) => isSame(URL.parse(one.values.url ?? '')));
  if (same) fault('url', `is that of resources.${same.name}, too`);
  // The relay passes a request on by its path: it must know for which resource. The same url was reported.
  const overlapping = earlier.find((one) => {
    const other = URL.parse(one.values.url ?? '');
    const eitherIsPassedOn = (values.upstream ?? one.values.upstream) !== undefined;
    if (!eitherIsPassedOn || !url || other?.host !== url.host || isSame(other)) return false;
    return overlap(other.pathname, url.pathname);
  });
  if (overlapping) fault('url', `contains that of resources.${overlapping.name}, or is below it`);
  if (sourceOf('provider') === undefined && names.length > 1) {
    fault('provider', 'is required, because there are several providers');
  }
}

/** Reports an `upstream` that cannot be reached through `url`, or that must not get the provider's token. */
function reportUpstream(resource: ResourceReading, { relay, frontEnds }: Readings): void {
  const { name, values, sourceOf, fault } = resource;
  const { upstream } = values;
  const url = URL.parse(values.url ?? '');
  const givesToken = values.token === 'provider';
  if (givesToken && sourceOf('upstream') === undefined) fault('token', 'is provider, which needs upstream');
  if (upstream === undefined) return;
  if (url !== null) reportAddress(resource, url, upstream, relay.baseUrl, frontEnds);
  if (!givesToken) {
    resource.warnOfUnused(['openClients'], ' without token provider');
    return;
  }
  if (relay.values.insecureHttp === false && upstream.protocol === 'http:' && !isLoopback(upstream)) {
    fault('upstream', "must start with https:// or be on this machine: it gets the provider's token");
  }
  const open = frontEnds.find((one) => one.clients && one.values.resources?.includes(name));
  if (open && values.openClients !== true) {
    fault(
      'token',
      `is provider, but front-ends.${open.name} has clients that nobody registered, and each could act with the provider's token: say open-clients: true if they may`,
    );
  }
}

/** Reports a `url` with paths of the relay itself, and one that does not end as the upstream's does. */
function reportAddress(
  { fault }: ResourceReading,
  { host, pathname }: URL,
  upstream: URL,
  baseUrl: string,
  frontEnds: Readings['frontEnds'],
): void {
  // What follows the url in a path is appended to the upstream's.
  const hasSlash = pathname.endsWith('/');
  if (hasSlash !== upstream.pathname.endsWith('/')) {
    const which = hasSlash ? 'a slash at its end, as url has' : 'no slash at its end, as url has none';
    fault('upstream', `must have ${which}`);
  }
  const login = URL.parse(baseUrl);
  if (login?.host !== host) return;
  const base = login.pathname === '/' ? [] : [login.pathname];
  const apis = frontEnds.flatMap((one) => one.apis.flatMap(({ values }) => values.path ?? []));
  const taken = [...ownPaths, ...base, ...apis].filter((path) => overlap(path, pathname));
  if (taken.length > 0) {
    fault('url', `contains paths of the relay at the host of the login, or is below one: ${taken.join(', ')}`);
  }
}

/** Reports what a resource should learn of people, but its provider does not say. */
function reportUnansweredClaims(
  { values: { identity: asked = [] }, claiming, registration, fault }: ResourceReading,
  settings: ProviderSettings | undefined,
): void {
  if (settings === undefined) return;
  const access = 'known' in settings ? settings.known.access : undefined;
  for (const claim of asked) {
    const answer = answerToClaim(claim, { groupsClaim: claiming?.values.groupsClaim }, access);
    if (answer.kind !== 'cannot') continue;
    const which = `has ${claim}, which the provider ${registration} does not say`;
    fault('identity', `${which}: ${answer.why}`);
  }
}

/** Checks that a front end with resources has one at each of its providers. @returns the names of its resources */
function checkFrontEndResources(
  { values, registrations, describe, fault }: FrontEndReading,
  resources: readonly ResourceReading[],
): readonly string[] {
  const { resources: named, tokenDelivery } = values;
  if (named === undefined) return [];
  const report = (message: string) => fault('resources', message);
  if (tokenDelivery !== 'code') {
    report(`needs ${describe('tokenDelivery')} code: every other way gives the provider's token`);
  }
  const known = resources.map(({ name }) => name);
  const meant = named.flatMap((name) => findEntry(name, known, 'resource', report) ?? []);
  const used = resources.filter(({ name }) => meant.includes(name));
  for (const { name, registration } of used) {
    if (registration === '' || registrations.includes(registration)) continue;
    report(`has ${name} of the provider ${registration}, which the front end may not use`);
  }
  // After other faults, it is not known which providers have none.
  const isClear = used.length === new Set(named).size && used.every((one) => one.registration !== '');
  for (const registration of isClear ? registrations : []) {
    if (used.some((one) => one.registration === registration)) continue;
    report(`has none of the provider ${registration}: name the others in providers`);
  }
  return meant;
}
