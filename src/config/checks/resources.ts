import { answerToClaim, type Claim } from '../../access/identity.ts';
import { overlap, ownPaths } from '../../paths.ts';
import { comparable } from '../../resources/resource.ts';
import { isLoopback } from '../../urls.ts';
import { entryNamed } from '../fault.ts';
import type { ProviderSettings } from '../provider.ts';
import {
  completeValues,
  type FrontEndReading,
  type Readings,
  type ResourceReading,
} from '../readings.ts';
import { allowOf } from './access.ts';

/**
 * Checks the resources, and the front ends that log in for them.
 *
 * @param providers in the order of the registrations; undefined: it has a fault
 */
export function checkResources(
  readings: Readings,
  providers: readonly (ProviderSettings | undefined)[],
): void {
  const { registrations, resources, frontEnds } = readings;
  const names = registrations.map(({ name }) => name);
  const used = new Set(frontEnds.flatMap((one) => checkFrontEndResources(one, resources)));
  for (const [index, resource] of resources.entries()) {
    reportPlace(resource, resources.slice(0, index), names);
    reportUpstream(resource, resources.slice(0, index), readings);
    reportUnansweredClaims(resource, providers[names.indexOf(resource.registration)]);
    if (!used.has(resource.name)) resource.faultOfEntry('is used by no front end');
  }
}

/** What `Resource` is made of. No fault was reported. */
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

function reportPlace(
  { values, sourceOf, fault, ...reading }: ResourceReading,
  earlier: readonly ResourceReading[],
  names: readonly string[],
): void {
  reading.require('url');
  const { url } = values;
  const same = earlier.find((one) => url && comparable(one.values.url ?? '') === comparable(url));
  if (same) fault('url', `is that of resources.${same.name}, too`);
  if (sourceOf('provider') === undefined && names.length > 1) {
    fault('provider', 'is required, because there are several providers');
  }
}

/** Reports faults of `upstream` and `token`: addresses that overlap, plain http, clients that nobody registered. */
function reportUpstream(
  resource: ResourceReading,
  earlier: readonly ResourceReading[],
  { relay, frontEnds }: Readings,
): void {
  const { name, values, sourceOf, fault } = resource;
  const { upstream } = values;
  const url = URL.parse(values.url ?? '');
  const overlapping = earlier.find((one) => {
    const other = URL.parse(one.values.url ?? '');
    const passes = upstream !== undefined || one.values.upstream !== undefined;
    const isAtHost = url !== null && other?.host === url.host;
    const isSame = isAtHost && comparable(other.href) === comparable(url.href);
    return passes && isAtHost && !isSame && overlap(other.pathname, url.pathname);
  });
  if (overlapping) fault('url', `contains that of resources.${overlapping.name}, or is below it`);
  const givesToken = values.token === 'provider';
  if (givesToken && sourceOf('upstream') === undefined)
    fault('token', 'is provider, which needs upstream');
  if (upstream === undefined) return;
  if (url !== null) reportAddress(resource, url, upstream, relay.baseUrl, frontEnds);
  if (!givesToken) {
    resource.warnOfUnused(['openClients'], ' without token provider');
    return;
  }
  if (
    relay.values.insecureHttp === false &&
    upstream.protocol === 'http:' &&
    !isLoopback(upstream)
  ) {
    fault(
      'upstream',
      "must start with https:// or be on this machine: it gets the provider's token",
    );
  }
  const open = frontEnds.find((one) => one.clients && one.values.resources?.includes(name));
  if (open && values.openClients !== true) {
    fault(
      'token',
      `is provider, but front-ends.${open.name} has clients that nobody registered, and each could act with the provider's token: say open-clients: true if they may`,
    );
  }
}

/** Reports addresses that the relay cannot tell from its own, or cannot map. */
function reportAddress(
  { fault }: ResourceReading,
  { host, pathname }: URL,
  upstream: URL,
  baseUrl: string,
  frontEnds: Readings['frontEnds'],
): void {
  const [inside, outside] = [pathname, upstream.pathname].map((path) => path.endsWith('/'));
  if (inside !== outside) {
    const which = inside
      ? 'a slash at its end, as url has'
      : 'no slash at its end, as url has none';
    fault('upstream', `must have ${which}`);
  }
  const login = URL.parse(baseUrl);
  if (login?.host !== host) return;
  const base = login.pathname === '/' ? [] : [login.pathname];
  const apis = frontEnds.flatMap((one) => one.apis.flatMap(({ values }) => values.path ?? []));
  const taken = [...ownPaths, ...base, ...apis].filter((path) => overlap(path, pathname));
  if (taken.length > 0) {
    fault(
      'url',
      `contains paths of the relay at the host of the login, or is below one: ${taken.join(', ')}`,
    );
  }
}

function reportUnansweredClaims(
  { values: { identity: asked = [] }, claiming, registration, fault }: ResourceReading,
  settings: ProviderSettings | undefined,
): void {
  if (settings === undefined) return;
  const access = 'known' in settings ? settings.known.access : undefined;
  const whyNot = (claim: Claim) => {
    const answer = answerToClaim(claim, { groupsClaim: claiming?.values.groupsClaim }, access);
    return answer.kind === 'cannot' ? answer.why : undefined;
  };
  for (const claim of asked) {
    const why = whyNot(claim);
    if (why === undefined) continue;
    fault('identity', `has ${claim}, which the provider ${registration} does not say: ${why}`);
  }
}

/** Checks that each login of a front end is for a resource, if one is. @returns the names of its resources */
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
  const meant = named.flatMap((name) => entryNamed(name, known, 'resource', report) ?? []);
  const used = resources.filter(({ name }) => meant.includes(name));
  for (const { name, registration } of used) {
    if (registration === '' || registrations.includes(registration)) continue;
    report(`has ${name} of the provider ${registration}, which the front end may not use`);
  }
  const isClear =
    used.length === new Set(named).size && used.every((one) => one.registration !== '');
  for (const registration of isClear ? registrations : []) {
    if (used.some((one) => one.registration === registration)) continue;
    report(`has none of the provider ${registration}: name the others in providers`);
  }
  return meant;
}
