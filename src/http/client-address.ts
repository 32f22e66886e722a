import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** The entry of the trusted proxies that stands for every connection through a Unix socket. */
export const unixSocket = 'unix';
// Room for twenty proxies. Anybody can send thousands of addresses before those.
const longestForwarded = 1024;

/**
 * Tells the clients of requests apart, through trusted proxies.
 *
 * @param trustedProxies addresses and networks whose `X-Forwarded-For` is trusted, and `unix` for a Unix socket
 * @param behindUnknownProxy whether no address is known to be a client's own
 */
export function clientsBehind(trustedProxies: readonly string[], behindUnknownProxy = false) {
  const addresses = trustedProxies.filter((entry) => entry !== unixSocket);
  const trustsUnixSocket = addresses.length < trustedProxies.length;
  const trusts = addresses.length > 0 ? proxyAddr.compile(addresses) : () => false;

  /** Undefined: an untrusted Unix socket, or a client that has hung up. */
  function addressOf({ socket, headers }: IncomingMessage): string | undefined {
    const { remoteAddress } = socket;
    if (trustedProxies.length === 0) return remoteAddress;
    const trustsPeer = trustsUnixSocket && isUnixSocket(socket);
    if (!trustsPeer && !trusts(remoteAddress ?? '', 0)) return remoteAddress;
    const forwarded = addressesIn(`${headers['x-forwarded-for'] ?? ''}`);
    const nearest = forwarded.find((address, hop) => !trusts(address, hop + 1));
    const told = withoutPort(nearest ?? forwarded.at(-1));
    // If a trusted proxy sends something else than an address, count the proxy.
    return ipaddr.isValid(told) ? told : remoteAddress;
  }

  return {
    addressOf,
    trusts,
    /**
     * Identifies a client: by its IPv4 address, or by the /64 network of its IPv6 address, the smallest that a
     * subscriber gets. Clients without an address count as one: those behind an untrusted Unix socket, and those that
     * have hung up.
     */
    subscriberOf(request: IncomingMessage): string {
      const address = addressOf(request);
      return address === undefined ? '' : networkOf(address);
    },
    /**
     * The same if the address is known to be the client's own. It may belong to a proxy if it is a loopback address, if
     * a trusted proxy names no client, or if the request comes through an untrusted Unix socket.
     */
    ownSubscriberOf(request: IncomingMessage): string | undefined {
      if (behindUnknownProxy) return undefined;
      const address = addressOf(request);
      if (address === undefined) return isUnixSocket(request.socket) ? undefined : '';
      const isProxy = ipaddr.process(address).range() === 'loopback' || trusts(address, 0);
      return isProxy ? undefined : networkOf(address);
    },
  };
}

/** Whether a request came through a Unix socket. After a reset, a TCP socket has a local address but no remote one. */
function isUnixSocket({ remoteAddress, localAddress, destroyed }: Socket): boolean {
  return remoteAddress === undefined && localAddress === undefined && !destroyed;
}

function networkOf(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const bytes = parsed.toByteArray();
  // In a network of IPv6 alone, a translator has one /64 for all of IPv4. @see RFC 6052 §2.2, RFC 7755
  const isTranslated = parsed.range() === 'rfc6052' || parsed.range() === 'rfc6145';
  if (isTranslated) return bytes.slice(-4).join('.');
  return Buffer.from(bytes.slice(0, 8)).toString('hex');
}

/** The addresses of `X-Forwarded-For`, the last one first. */
function addressesIn(header: string): string[] {
  const near = header.slice(-longestForwarded);
  const whole = near.length < header.length ? near.slice(near.indexOf(',') + 1) : near;
  const addresses = whole.split(',').map((one) => one.trim());
  return addresses.filter((one) => one !== '').reverse();
}

// Some proxies add the client's port.
function withoutPort(address: string | undefined): string {
  return address?.replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, '$1$2') ?? '';
}

/** How much of an address is shown: nothing, all of it, or its /24 (IPv4) or /48 (IPv6) network. */
type Detail = 'off' | 'whole' | 'cut';

/** The addresses of clients, as the log shows them. */
export function loggedAddresses(settings: {
  readonly trustedProxies: readonly string[];
  readonly logClientAddress: Detail;
}) {
  const { trustedProxies, logClientAddress: detail } = settings;
  if (detail === 'off') return { of: () => undefined, ofPeer: () => undefined };
  const { addressOf, trusts } = clientsBehind(trustedProxies);
  const show = (address: string | undefined) => address && shown(address, detail);
  return {
    /** The client's address; that of a proxy if the proxy names no client. Undefined behind a Unix socket. */
    of: (request: IncomingMessage): string | undefined => show(addressOf(request)),
    /** The address of the peer, unless it is a trusted proxy. */
    ofPeer: (address: string | undefined): string | undefined =>
      show(address !== undefined && trusts(address, 0) ? undefined : address),
  };
}

function shown(address: string, detail: 'whole' | 'cut'): string {
  // A zone names an interface of this machine.
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (detail === 'whole') return parsed.toString();
  const kept = parsed.kind() === 'ipv4' ? 3 : 6;
  const bytes = parsed.toByteArray().map((byte, index) => (index < kept ? byte : 0));
  return `${ipaddr.fromByteArray(bytes)}/${kept * 8}`;
}
