import { lookup, promises } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Networks for special purposes that `ipaddr.js` takes for public ones. */
const specialNetworks = new BlockList();
// Benchmarks, and the anycast addresses of 6to4.
specialNetworks.addSubnet('198.18.0.0', 15);
specialNetworks.addSubnet('192.88.99.0', 24);
// Protocol assignments such as Teredo, and documentation.
specialNetworks.addSubnet('2001::', 23, 'ipv6');
specialNetworks.addSubnet('3fff::', 20, 'ipv6');
/** The only part of IPv6 that is for hosts on the Internet. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an IP address is public, in any of its spellings.
 *
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed?.range() !== 'unicast') return false;
  const kind = parsed.kind();
  const isForHosts = kind === 'ipv4' || globalUnicast.check(parsed.toString(), kind);
  return isForHosts && !specialNetworks.check(parsed.toString(), kind);
}

/** Parses an address. One that is mapped into IPv6 becomes IPv4. @returns undefined if the text is no IP address */
function parseAddress(address: string) {
  // The URL parser also knows spellings that ipaddr.js does not, such as 64:ff9b::1.2.3.4.
  const normalized = isIP(address) === 6 ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) : address;
  return normalized !== undefined && isIP(normalized) > 0 ? ipaddr.process(normalized) : undefined;
}

const isLoopbackAddress = (address: string) => parseAddress(address)?.range() === 'loopback';

/** Whether a URL may be called. A host that is a name counts as public, until `createPublicLookup` resolves it. */
export function isPublicUrl({ hostname }: URL, allowsLoopback: boolean): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || isPublicAddress(host) || (allowsLoopback && isLoopbackAddress(host));
}

const dns = new promises.Resolver({ timeout: 1000, tries: 2 });

/** Asks DNS directly, because the system's resolver has two threads, which a few slow names of clients would block. */
const lookUpInDns: LookupFunction = async (hostname, _options, callback) => {
  const found = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
  const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const withFamilies = addresses.map((address) => ({ address, family: isIP(address) }));
  callback(null, withFamilies);
};

/**
 * Creates a lookup that fails unless every address of a name is public. The connection goes to the checked address, so
 * that DNS cannot return another one in between (DNS rebinding).
 *
 * @param allowsLoopback whether this machine is allowed as well. Its names are not in DNS, so the system resolves them
 */
export function createPublicLookup(
  allowsLoopback: boolean,
  resolve: LookupFunction = allowsLoopback ? lookup : lookUpInDns,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const isAllowed = addresses.every(
        ({ address }) => isPublicAddress(address) || (allowsLoopback && isLoopbackAddress(address)),
      );
      const [first] = addresses;
      if (error || first === undefined || !isAllowed) {
        callback(error ?? new Error('the address is not public'), '', 0);
      } else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
