import { lookup, promises } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Networks for special purposes that `ipaddr.js` does not recognize as such. */
const special = new BlockList();
// Benchmarks, and the anycast addresses of 6to4.
special.addSubnet('198.18.0.0', 15);
special.addSubnet('192.88.99.0', 24);
// Protocol assignments such as Teredo, and documentation.
special.addSubnet('2001::', 23, 'ipv6');
special.addSubnet('3fff::', 20, 'ipv6');
/** The part of IPv6 for hosts of the Internet. */
const ofHosts = new BlockList();
ofHosts.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an IP address is public, in any of its spellings.
 *
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parsedAddress(address);
  if (parsed?.range() !== 'unicast') return false;
  const kind = parsed.kind();
  const isOfHosts = kind === 'ipv4' || ofHosts.check(parsed.toString(), kind);
  return isOfHosts && !special.check(parsed.toString(), kind);
}

/** Undefined if the text is no IP address. An IPv4 address mapped into IPv6 is that IPv4 address. */
function parsedAddress(address: string) {
  const text = isIP(address) === 6 ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) : address;
  return text !== undefined && isIP(text) > 0 ? ipaddr.process(text) : undefined;
}

const isHere = (address: string) => parsedAddress(address)?.range() === 'loopback';

/** Whether a URL may be called, as far as its text tells. @param mayBeHere whether this machine is allowed as well */
export function reachesPublicAddress({ hostname }: URL, mayBeHere: boolean): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || isPublicAddress(host) || (mayBeHere && isHere(host));
}

const dns = new promises.Resolver({ timeout: 1000, tries: 2 });

/**
 * Asks DNS directly, because the system's resolver has two threads, and a few slow names would delay those of
 * providers.
 */
const lookUpInDns: LookupFunction = async (hostname, _options, callback) => {
  const found = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
  const all = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const addresses = all.map((address) => ({ address, family: isIP(address) }));
  callback(null, addresses);
};

/**
 * Resolves names, and fails unless every address is public. The connection goes to the checked address, so that DNS
 * cannot return another one in between (DNS rebinding). Names of this machine are not in DNS.
 */
export function publicLookup(
  mayBeHere: boolean,
  resolve: LookupFunction = mayBeHere ? lookup : lookUpInDns,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const isAllowed = addresses.every(({ address }) => isPublicAddress(address) || (mayBeHere && isHere(address)));
      const [first] = addresses;
      if (error || first === undefined || !isAllowed) {
        callback(error ?? new Error('the address is not public'), '', 0);
      } else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
