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
  return (written, port) => {
    const host = bare(written.toLowerCase());
    return entries.some((one) => (one.port === undefined || one.port === port) && one.holdsFor(host));
  };
}

interface Entry {
  readonly port?: number;
  holdsFor(host: string): boolean;
}

function readEntry(entry: string): Entry | undefined {
  if (entry === '*') return { holdsFor: () => true };
  const addresses = addressesOf(entry);
  if (addresses !== undefined) return { holdsFor: addresses };
  const [, name = '', port] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const holdsFor = addressesOf(name) ?? namesBelow(name);
  return holdsFor && { holdsFor, ...(port !== undefined && { port: Number(port) }) };
}

/** Matches the addresses of an entry: one, a network, or a range in the notation of Node.js. */
function addressesOf(entry: string): Entry['holdsFor'] | undefined {
  const [, first = '', prefix, last] = /^([^/-]+)(?:\/(\d{1,3})|-([^/-]+))?$/.exec(entry) ?? [];
  const address = bare(first);
  const list = new BlockList();
  const family = familyOf(address);
  if (family === undefined) return undefined;
  try {
    if (prefix !== undefined) list.addSubnet(address, Number(prefix), family);
    else list.addRange(address, last ?? address, family);
  } catch {
    return undefined;
  }
  return (host) => {
    const ofHost = familyOf(host);
    return ofHost !== undefined && list.check(host, ofHost);
  };
}

/** Matches a name and all names below. */
function namesBelow(entry: string): Entry['holdsFor'] | undefined {
  const name = entry.replace(/^\*?\.|\.$/g, '');
  if (name === '' || /[*/[\]]/.test(name)) return undefined;
  const isOnlyBelow = entry.startsWith('*.');
  return (host) => (host === name && !isOnlyBelow) || host.endsWith(`.${name}`);
}

/** A host without brackets and without a final dot. */
const bare = (host: string) => host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : `ipv${version === 4 ? 4 : 6}`;
}
