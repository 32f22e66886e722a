import { getDomain } from 'tldts';

const options = { allowPrivateDomains: true, extractHostname: false };

/**
 * Whether every name directly under a domain belongs to the domain's owner. Under a public suffix
 * (`co.uk`, `github.io`), anybody can have a name.
 *
 * @param domain in lower case, with punycode
 * @see https://publicsuffix.org/list/
 */
export function ownsItsNames(domain: string): boolean {
  const owned = getDomain(domain, options);
  // Below some domains, such as kawasaki.jp, every name is a public suffix.
  return owned !== null && owned === getDomain(`any-name.${domain}`, options);
}
