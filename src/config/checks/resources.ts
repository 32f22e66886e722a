import { allowAt, rulesOf } from '../../access/allow.ts';
import { answerToClaim, type Claim } from '../../access/identity.ts';
import { doPathsOverlap, ownPaths } from '../../paths.ts';
import { toComparable } from '../../resources/resource.ts';
import { isLoopback } from '../../urls.ts';
import { titleOf } from '../assemble-provider.ts';
import { findEntryOrReport } from '../fault.ts';
import { configuredProvider, type ProviderSettings } from '../provider-settings.ts';
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
    reportUnansweredClaims(resource, (name) => providers[names.indexOf(name)]);
    warnOfProviderWithoutAccess(resource);
    reportLikeNames(resource);
    reportEqualTitles(resource, registrations);
    if (!used.has(resource.name) && resource.browser === undefined) {
      resource.reportEntryFault('is used by no front end, and opens to no browser');
    }
  }
}

/** The resource for `Config`. Call it only if there is no fault. */
export function resourceConfig(reading: ResourceReading, providers: ReadonlyMap<string, ProviderSettings>) {
  const { name, registrations, idsNameProvider, secrets } = reading;
  const values = completeValues(reading);
  return {
    name,
    url: values.url,
    /** The registrations whose people it serves, in the order in which they are offered. */
    registrations,
    /** Whether the ids that it learns begin with the name of the registration: `github:583231`. */
    idsNameProvider,
    /** Who may use it; undefined if everybody who may log in at its front ends may. */
    allow: allowOf(reading),
    /** The claims that it learns about people, by registration. */
    identities: new Map(
      registrations.map((registration) => [
        registration,
        {
          claims: claimsAt(reading, registration, providers.get(registration)),
          groupsClaim: groupsClaimAt(reading, registration),
        },
      ]),
    ),
    lifetime: values.lifetime,
    scope: values.scope,
    secrets: secrets ?? [],
    /** The server behind the gateway; undefined if requests to the resource do not pass the relay. */
    upstream: values.upstream && {
      url: values.upstream.href,
      givesToken: values.token === 'provider',
    },
    /** How long browsers stay logged in; undefined if it opens to no browser. */
    browser: reading.browser && completeValues(reading.browser),
  };
}

/** Requires a `url`. Reports it if an earlier resource has the same URL, or a URL that makes requests ambiguous. */
function checkUrl(resource: ResourceReading, earlier: readonly ResourceReading[]): void {
  const { values, reportFault } = resource;
  resource.require('url');
  const url = URL.parse(values.url ?? '');
  const isSame = (other: URL | null) => other && toComparable(other.href) === toComparable(url?.href ?? '');
  const same = earlier.find((other) => isSame(URL.parse(other.values.url ?? '')));
  if (same) reportFault('url', `is that of resources.${same.name}, too`);
  // The gateway finds the resource of a request by its path.
  const overlapping = earlier.find((other) => {
    const otherUrl = URL.parse(other.values.url ?? '');
    const isGatewayUsed = (values.upstream ?? other.values.upstream) !== undefined;
    if (!isGatewayUsed || !url || otherUrl?.host !== url.host || isSame(otherUrl)) return false;
    return doPathsOverlap(otherUrl.pathname, url.pathname);
  });
  if (overlapping) reportFault('url', `contains that of resources.${overlapping.name}, or is below it`);
}

/** Reports a resource that does not say which of several providers it is for. */
function checkProviderIsNamed({ isGiven, reportFault }: ResourceReading, registrations: readonly string[]): void {
  if (isGiven('provider') || registrations.length <= 1) return;
  reportFault('provider', 'is required, because there are several providers');
}

/** Reports an `upstream` that cannot be reached through `url`, or that must not get the provider's token. */
function checkUpstream(resource: ResourceReading, { relay, frontEnds }: Readings): void {
  const { name, values, registrations, isGiven, reportFault } = resource;
  const { upstream } = values;
  const url = URL.parse(values.url ?? '');
  const givesToken = values.token === 'provider';
  if (givesToken && !isGiven('upstream')) reportFault('token', 'is provider, which needs upstream');
  if (givesToken && registrations.length > 1) {
    reportFault(
      'token',
      `is provider, but there are several: the server could send a token of ${registrations[0]} to ${registrations[1]}`,
    );
  }
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
  const login = new URL(baseUrl);
  if (login.host !== host) return;
  const basePaths = login.pathname === '/' ? [] : [login.pathname];
  const apiPaths = frontEnds.flatMap(({ apis }) => apis.flatMap(({ values }) => values.path ?? []));
  const taken = [...ownPaths, ...basePaths, ...apiPaths].filter((path) => doPathsOverlap(path, pathname));
  if (taken.length > 0) {
    reportFault('url', `contains paths of the relay at the host of the login, or is below one: ${taken.join(', ')}`);
  }
}

const groupsClaimAt = ({ allowWithGroupsClaim }: ResourceReading, registration: string) =>
  allowWithGroupsClaim(registration)?.values.groupsClaim;

/** Says why the provider of a registration cannot answer a claim; undefined if it can, or if it has a fault. */
function whyUnanswered(
  resource: ResourceReading,
  claim: Claim,
  registration: string,
  settings: ProviderSettings | undefined,
): string | undefined {
  if (settings === undefined) return undefined;
  const { access } = configuredProvider(settings);
  const answer = answerToClaim(claim, { groupsClaim: groupsClaimAt(resource, registration) }, access);
  return answer.kind === 'cannot' ? answer.why : undefined;
}

/** The claims of a resource that the provider of a registration can answer. */
function claimsAt(resource: ResourceReading, registration: string, settings: ProviderSettings | undefined) {
  const { identity: asked = [] } = resource.values;
  return asked.filter((claim) => whyUnanswered(resource, claim, registration, settings) === undefined);
}

/** Reports claims that no provider of a resource can answer, and warns about claims that only some of them can answer. */
function reportUnansweredClaims(
  resource: ResourceReading,
  settingsOf: (registration: string) => ProviderSettings | undefined,
): void {
  const { registrations, reportFault, warn } = resource;
  for (const claim of resource.values.identity ?? []) {
    const unanswered = registrations.flatMap((name) => {
      const why = whyUnanswered(resource, claim, name, settingsOf(name));
      return why === undefined ? [] : [`which the provider ${name} does not say: ${why}`];
    });
    for (const which of unanswered) {
      if (unanswered.length === registrations.length) reportFault('identity', `has ${claim}, ${which}`);
      else warn('identity', `has ${claim}, ${which}. Its people have none`);
    }
  }
}

/** Reports names of providers that differ only in case, because an application may compare ids without case. */
function reportLikeNames({ registrations, reportFault }: ResourceReading): void {
  for (const [first, second] of Map.groupBy(registrations, (name) => name.toLowerCase()).values()) {
    if (second !== undefined) reportFault('provider', `has ${first} and ${second}, which differ only in case`);
  }
}

/** Reports providers that have the same name on the page where people choose one. */
function reportEqualTitles({ registrations: names, reportFault }: ResourceReading, all: Readings['registrations']) {
  const offered = all.filter(({ name }) => names.includes(name));
  const byTitle = Map.groupBy(offered, (registration) => titleOf(registration, all));
  for (const [title, [first, second]] of byTitle) {
    if (first === undefined || second === undefined) continue;
    reportFault(
      'provider',
      `has ${first.name} and ${second.name}, which people cannot tell apart: both have the title ${title}`,
    );
  }
}

/** Warns about a provider that people can choose, although `allow` lets none of its people in. */
function warnOfProviderWithoutAccess(resource: ResourceReading): void {
  const allow = allowOf(resource);
  const { registrations, warn } = resource;
  if (allow === undefined || registrations.length < 2) return;
  for (const name of registrations) {
    const isForNobody = rulesOf(allowAt(allow, name)).length === 0;
    if (isForNobody) warn('provider', `has ${name}, but no entry of its allow lets people of ${name} in`);
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
  for (const { name, registrations: ofResource } of used) {
    if (ofResource.length === 0 || ofResource.some((registration) => registrations.includes(registration))) continue;
    const which = ofResource.length === 1 ? 'the provider' : 'the providers';
    report(`has ${name} of ${which} ${ofResource.join(' and ')}, which the front end may not use`);
  }
  // After another fault, it is not known which providers have no resource.
  const areAllKnown =
    used.length === new Set(named).size && used.every((resource) => resource.registrations.length > 0);
  for (const registration of areAllKnown ? registrations : []) {
    if (used.some((resource) => resource.registrations.includes(registration))) continue;
    report(`has none of the provider ${registration}: name the others in providers`);
  }
  return meant;
}
