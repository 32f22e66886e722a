import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** The entry of the trusted proxies that stands for every connection through a Unix socket. */
export const unixSocket = 'unix';
const forwardedFor = 'x-forwarded-for';
// Room for twenty proxies. Anybody can send thousands of addresses before those.
const longestForwarded = 1024;

/**
 * Resolves the address of a request through trusted proxies.
 *
 * @param trustedProxies addresses and networks, and `unix` for a Unix socket
 */
export function addressesBehind(trustedProxies: readonly string[]) {
  const addresses = trustedProxies.filter((entry) => entry !== unixSocket);
  const trustsUnixSocket = addresses.length < trustedProxies.length;
  const trusts = addresses.length > 0 ? proxyAddr.compile(addresses) : () => false;

  /** Undefined: an untrusted Unix socket, or a client that has hung up. */
  function addressOf(request: IncomingMessage): string | undefined {
    const { socket, headers } = request;
    if (trustedProxies.length === 0) return socket.remoteAddress;
    const forwarded = `${headers[forwardedFor] ?? ''}`;
    if (forwarded.length > longestForwarded) {
      const start = forwarded.indexOf(',', forwarded.length - longestForwarded) + 1;
      headers[forwardedFor] = forwarded.slice(start);
    }
    const trustsPeer = trustsUnixSocket && isUnixSocket(socket);
    const told = withoutPort(
      proxyAddr(request, (address, hop) => (hop === 0 && trustsPeer) || trusts(address, hop)),
    );
    // If a trusted proxy sends something else than an address, count the proxy.
    return ipaddr.isValid(told) ? told : socket.remoteAddress;
  }

  return { addressOf, trusts };
}

/** Whether a request came through a Unix socket. After a reset, a TCP socket has a local address but no remote one. */
export function isUnixSocket({ remoteAddress, localAddress, destroyed }: Socket): boolean {
  return remoteAddress === undefined && localAddress === undefined && !destroyed;
}

// Some proxies add the client's port.
function withoutPort(address: string | undefined): string {
  return address?.replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, '$1$2') ?? '';
}

/** How much of an address is shown: nothing, all of it, or its /24 (IPv4) or /48 (IPv6) network. */
type Detail = 'off' | 'whole' | 'cut';

/**
 * The addresses of clients, as the log shows them.
 *
 * @param settings.trustedProxies addresses and networks whose `X-Forwarded-For` is trusted, and `unix`
 */
export function loggedAddresses(settings: {
  readonly trustedProxies: readonly string[];
  readonly logClientAddress: Detail;
}) {
  const { trustedProxies, logClientAddress: detail } = settings;
  if (detail === 'off') return { of: () => undefined, ofPeer: () => undefined };
  const { addressOf, trusts } = addressesBehind(trustedProxies);
  const show = (address: string | undefined) =>
    address === undefined ? undefined : shown(address, detail);
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
