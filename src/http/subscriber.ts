import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** The entry of the trusted proxies that stands for every connection through a Unix socket. */
export const unixSocket = 'unix';
// Room for twenty proxies. Anybody can send thousands of addresses before those of the proxies.
const longestForwarded = 1024;

/**
 * Tells callers apart, the senders of requests, through trusted proxies.
 *
 * @param trustedProxies addresses and networks whose `X-Forwarded-For` is trusted, and `unix` for a Unix socket
 * @param behindUnknownProxy whether every address may be that of a proxy
 */
export function callersBehind(trustedProxies: readonly string[], behindUnknownProxy = false) {
  const addresses = trustedProxies.filter((entry) => entry !== unixSocket);
  const trustsUnixSocket = addresses.length < trustedProxies.length;
  const trusts = addresses.length > 0 ? proxyAddr.compile(addresses) : () => false;

  /** The address of a caller. Undefined: it came through an untrusted Unix socket, or has hung up. */
  function addressOf({ socket, headers }: IncomingMessage): string | undefined {
    const { remoteAddress } = socket;
    if (trustedProxies.length === 0) return remoteAddress;
    const trustsPeer = trustsUnixSocket && isUnixSocket(socket);
    if (!trustsPeer && !trusts(remoteAddress ?? '', 0)) return remoteAddress;
    const forwarded = addressesNearestFirst(`${headers['x-forwarded-for'] ?? ''}`);
    // What stands before the nearest address that is no trusted proxy's, its sender may have made up.
    const nearest = forwarded.find((address, hop) => !trusts(address, hop + 1));
    const told = nearest ?? forwarded.at(-1) ?? '';
    // If a trusted proxy sends something else than an address, count the proxy.
    return ipaddr.isValid(told) ? told : remoteAddress;
  }

  return {
    addressOf,
    trusts,
    /**
     * Identifies a subscriber, whom a limit counts: by the IPv4 address, or by the /64 network of the IPv6 address, the
     * smallest that a subscriber gets. Callers without an address count as one.
     */
    subscriberOf(request: IncomingMessage): string {
      const address = addressOf(request);
      return address === undefined ? '' : networkOf(address);
    },
    /**
     * The subscriber if the address is known to be the caller's own. It may belong to a proxy if it is a loopback
     * address, if a trusted proxy has it, and behind an untrusted Unix socket. Callers that have hung up count as one.
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

/** The IPv4 address, or the first half of the IPv6 address: what one subscriber has. */
function networkOf(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const bytes = parsed.toByteArray();
  // In a network of IPv6 alone, a translator has one /64 for all of IPv4. @see RFC 6052 §2.2, RFC 7755
  const isTranslated = parsed.range() === 'rfc6052' || parsed.range() === 'rfc6145';
  if (isTranslated) return bytes.slice(-4).join('.');
  return Buffer.from(bytes.slice(0, 8)).toString('hex');
}

/** The addresses of `X-Forwarded-For`, without ports, the last one first. */
function addressesNearestFirst(header: string): string[] {
  const near = header.slice(-longestForwarded);
  const whole = near.length < header.length ? near.slice(near.indexOf(',') + 1) : near;
  const entries = whole.split(',').map((one) => one.trim());
  return entries
    .filter((one) => one !== '')
    .map(withoutPort)
    .reverse();
}

/** An address without the port that some proxies add. With the port, a trusted proxy would look like the client. */
function withoutPort(entry: string): string {
  // The last group of an IPv6 address without brackets looks like a port.
  return isIP(entry) > 0 ? entry : entry.replace(/^(?:\[(.+)\]|(.+?))(?::\d{1,5})?$/, '$1$2');
}
