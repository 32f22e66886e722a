import { getDomain } from 'tldts';

/**
 * Whether browsers take two addresses for one site: the same scheme, and the same host or the same domain
 * that one owner has.
 *
 * @see https://html.spec.whatwg.org/multipage/browsers.html#schemelessly-same-site
 */
export function isSameSite(one: URL, other: URL): boolean {
  if (one.protocol !== other.protocol) return false;
  const domain = domainOf(one);
  return one.hostname === other.hostname || (domain !== null && domain === domainOf(other));
}

function domainOf({ hostname }: URL): string | null {
  return getDomain(hostname, { allowPrivateDomains: true });
}
