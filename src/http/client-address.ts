import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/**
 * Tells who sends a request: an IPv4 address, or the /64 network of an IPv6 address, which one
 * subscriber has at least.
 *
 * @param trustedProxies addresses and networks whose `X-Forwarded-For` is believed; nobody else's is
 */
export function clientAddressBehind(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string {
  const trusts = trustedProxies.length > 0 ? proxyAddr.compile([...trustedProxies]) : () => false;
  return (request) => {
    const told = withoutPort(proxyAddr(request, trusts));
    // What is no address comes through a trusted proxy: that one has to answer for it.
    const address = ipaddr.isValid(told) ? told : request.socket.remoteAddress;
    return address === undefined ? '' : subscriber(address);
  };
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
