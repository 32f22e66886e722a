import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** Stands among trusted proxies for whoever connects through a Unix socket. */
export const unixSocket = 'unix';

/**
 * Tells who sends a request: an IPv4 address, or the /64 network of an IPv6 address, which one
 * subscriber has at least. All clients without an address are one: those that come through a Unix
 * socket that is not trusted, and those that have hung up.
 *
 * @param trustedProxies addresses and networks whose `X-Forwarded-For` is trusted; nobody else's is
 */
export function clientAddressBehind(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string {
  const { addressOf } = resolverFor(trustedProxies);
  return (request) => {
    const address = addressOf(request);
    return address === undefined ? '' : subscriber(address);
  };
}

/**
 * Tells who sends a request, if the address is known to be the client's own. It may be that of a proxy
 * if it is a loopback address, if a trusted proxy names no client, or if the request comes through a Unix
 * socket that is not trusted.
 */
export function ownAddressBehind(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string | undefined {
  const { addressOf, trusts } = resolverFor(trustedProxies);
  return (request) => {
    const address = addressOf(request);
    if (address === undefined) return isUnixSocket(request.socket) ? undefined : '';
    const isProxy = ipaddr.process(address).range() === 'loopback' || trusts(address, 0);
    return isProxy ? undefined : subscriber(address);
  };
}

/**
 * Tells the address from which a request comes, and which addresses are trusted proxies.
 *
 * @param trustedProxies addresses and networks, and `unix` for a Unix socket
 */
export function resolverFor(trustedProxies: readonly string[]) {
  const addresses = trustedProxies.filter((entry) => entry !== unixSocket);
  const trustsUnixSocket = addresses.length < trustedProxies.length;
  const trusts = addresses.length > 0 ? proxyAddr.compile(addresses) : () => false;

  function addressOf(request: IncomingMessage): string | undefined {
    const { socket } = request;
    const trustsPeer = trustsUnixSocket && isUnixSocket(socket);
    const told = withoutPort(
      proxyAddr(request, (address, hop) => (hop === 0 && trustsPeer) || trusts(address, hop)),
    );
    // What is no address comes through a trusted proxy: that one has to answer for it.
    return ipaddr.isValid(told) ? told : socket.remoteAddress;
  }

  return { addressOf, trusts };
}

// A connection that its client has reset has no remote address any more, but still a local one.
function isUnixSocket({ remoteAddress, localAddress, destroyed }: Socket): boolean {
  return remoteAddress === undefined && localAddress === undefined && !destroyed;
}

// Some proxies add the client's port.
function withoutPort(address: string | undefined): string {
  return address?.replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, '$1$2') ?? '';
}

function subscriber(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return Buffer.from(parsed.toByteArray().slice(0, 8)).toString('hex');
}
