import { doPathsOverlap, ownPrefix } from '../../paths.ts';
import type { FrontEndReading, Readings, ResourceReading } from '../readings.ts';

/** Checks the resources that open to browsers. */
export function checkBrowserSettings(readings: Readings): void {
  for (const resource of readings.resources) {
    if (resource.browser !== undefined) checkBrowser(resource, readings);
  }
}

/** Checks a resource that opens to browsers: its cookie, its host, and what can tell the relay about requests. */
function checkBrowser(resource: ResourceReading, { relay, resources, frontEnds }: Readings): void {
  const { values, browser, reportFault } = resource;
  const { lifetime, renew } = browser?.values ?? {};
  if (lifetime !== undefined && renew !== undefined && renew > lifetime) {
    browser?.reportFault('renew', 'must not be longer than lifetime');
  }
  if (values.token === 'provider') {
    reportFault('token', 'must not be provider with browser: the cookie holds no token of the provider');
  }
  if (values.upstream === undefined && relay.values.trustedProxies === undefined) {
    browser?.reportEntryFault(`needs trusted-proxies: only a trusted reverse proxy can say what a browser asks for`);
  }
  reportSharedHost(resource, relay.baseUrl, resources);
  for (const frontEnd of frontEnds) reportHiddenPages(frontEnd, resource);
}

/** Reports pages of a front end that the relay's own addresses at the host of a resource would hide. */
function reportHiddenPages({ values, reportFault }: FrontEndReading, { name, values: { url = '' } }: ResourceReading) {
  const host = URL.parse(url)?.host;
  const isHidden = (page: string) => {
    const pageUrl = URL.parse(page);
    if (pageUrl === null || pageUrl.host !== host) return false;
    // The root of the host overlaps with every path, but it is not hidden.
    return pageUrl.pathname !== '/' && doPathsOverlap(ownPrefix, pageUrl.pathname);
  };
  const why = `is below ${ownPrefix}, where the relay answers at the host of resources.${name}`;
  if (isHidden(values.frontendUrl?.href ?? '')) reportFault('frontendUrl', why);
  if (values.redirectUri?.some(isHidden)) reportFault('redirectUri', why);
}

/**
 * Reports a host that the resource shares with the login or with another resource, on any port. A script at the
 * resource could act on everything else at its host, and cookies do not distinguish ports.
 */
function reportSharedHost(
  { name, values, reportFault }: ResourceReading,
  baseUrl: string,
  resources: Readings['resources'],
): void {
  const url = URL.parse(values.url ?? '');
  if (url === null) return;
  if (url.pathname !== '/') {
    reportFault('url', 'must be the root of its host with browser, such as https://wiki.example.com/');
  }
  const remedy =
    'give it a host of its own, because an application can act on everything at its host, whatever the port is';
  if (new URL(baseUrl).hostname === url.hostname) {
    reportFault('url', `is at the host of the login with browser: ${remedy}`);
  }
  const other = resources.find(
    (resource) => resource.name !== name && URL.parse(resource.values.url ?? '')?.hostname === url.hostname,
  );
  if (other) reportFault('url', `is at the host of resources.${other.name} with browser: ${remedy}`);
}
