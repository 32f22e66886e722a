import { BlockList, isIP } from 'node:net';

/** Whether a host is called without the proxy. @param host a name, or an IP address with or without brackets */
export type IsDirect = (host: string, port: number) => boolean;

/**
 * Reads `NO_PROXY` as curl, Go and Python do: a name covers itself and all names below, an address or network covers
 * addresses, `*` everything. A leading dot changes nothing, and `*.` excludes the name itself. A port limits an entry
 * to that port. Unreadable entries are ignored.
 *
 * @param list entries separated by commas or spaces
 */
export function readNoProxy(list: string): IsDirect {
  const entries = list
    .toLowerCase()
    .split(/[,\s]+/)
    .flatMap((entry) => readEntry(entry) ?? []);
  return (givenHost, givenPort) => {
    const host = normalizeHost(givenHost.toLowerCase());
    return entries.some(({ port, matches }) => (port === undefined || port === givenPort) && matches(host));
  };
}

interface Entry {
  readonly port?: number;
  readonly matches: (host: string) => boolean;
}

/** @returns undefined if the entry is unreadable */
function readEntry(entry: string): Entry | undefined {
  if (entry === '*') return { matches: () => true };
  // An IPv6 address has colons of its own, so read it before a port is split off.
  const matchesAddresses = matchAddresses(entry);
  if (matchesAddresses !== undefined) return { matches: matchesAddresses };
  const [, host = '', port] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const matches = matchAddresses(host) ?? matchNames(host);
  if (matches === undefined) return undefined;
  return port === undefined ? { matches } : { matches, port: Number(port) };
}

/** Matches an IP address, a network, or a range in the notation of Node.js. @returns undefined for any other text */
function matchAddresses(entry: string): Entry['matches'] | undefined {
  const [, first = '', prefix, last] = /^([^/-]+)(?:\/(\d{1,3})|-([^/-]+))?$/.exec(entry) ?? [];
  const address = normalizeHost(first);
  const list = new BlockList();
  const family = addressFamily(address);
  if (family === undefined) return undefined;
  try {
    if (prefix !== undefined) list.addSubnet(address, Number(prefix), family);
    else list.addRange(address, last ?? address, family);
  } catch {
    return undefined;
  }
  return (host) => {
    const hostFamily = addressFamily(host);
    return hostFamily !== undefined && list.check(host, hostFamily);
  };
}

/** Matches a name and all names below. @returns undefined if the text is no name */
function matchNames(entry: string): Entry['matches'] | undefined {
  const name = entry.replace(/^\*?\.|\.$/g, '');
  if (name === '' || /[*/[\]]/.test(name)) return undefined;
  const isOnlyBelow = entry.startsWith('*.');
  return (host) => (host === name && !isOnlyBelow) || host.endsWith(`.${name}`);
}

/** Removes brackets and a final dot. */
const normalizeHost = (host: string) => host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

function addressFamily(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}
