import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** The word in `--trusted-proxies` for all connections through a Unix socket. */
export const unixSocket = 'unix';
// Room for twenty proxies. A client can put thousands of addresses in front of those that the proxies add.
const longestForwarded = 1024;

/**
 * Identifies callers, also behind trusted proxies.
 *
 * @param trustedProxies addresses and networks whose `X-Forwarded-For` is trusted, and `unix` for Unix sockets
 * @param behindUnknownProxy whether every address may be that of a proxy
 */
export function callersBehind(trustedProxies: readonly string[], behindUnknownProxy = false) {
  const addresses = trustedProxies.filter((entry) => entry !== unixSocket);
  const trustsUnixSocket = addresses.length < trustedProxies.length;
  const trusts = addresses.length > 0 ? proxyAddr.compile(addresses) : () => false;

  /** Whether a request comes from a trusted proxy itself. */
  const isOfProxy = ({ socket }: IncomingMessage): boolean =>
    (trustsUnixSocket && isUnixSocket(socket)) || trusts(socket.remoteAddress ?? '', 0);

  /** @returns undefined if the caller came through an untrusted Unix socket, or has hung up */
  function addressOf(request: IncomingMessage): string | undefined {
    const { socket, headers } = request;
    const { remoteAddress } = socket;
    if (trustedProxies.length === 0 || !isOfProxy(request)) return remoteAddress;
    const forwarded = addressesNearestFirst(`${headers['x-forwarded-for'] ?? ''}`);
    // Whatever precedes the first address of an untrusted hop can be forged.
    const nearest = forwarded.find((address, hop) => !trusts(address, hop + 1));
    const told = nearest ?? forwarded.at(-1) ?? '';
    // If a trusted proxy sends something that is no address, count the proxy itself.
    return ipaddr.isValid(told) ? told : remoteAddress;
  }

  return {
    addressOf,
    isOfProxy,
    trusts,
    /**
     * The subscriber of a caller, to whom limits apply: an IPv4 address, or the /64 network of an IPv6 address, which
     * is the smallest unit that a subscriber gets. Callers without an address are one subscriber.
     */
    subscriberOf(request: IncomingMessage): string {
      const address = addressOf(request);
      return address === undefined ? '' : networkOf(address);
    },
    /**
     * The subscriber of a caller. Undefined if its address may be a proxy's, because many callers would share it: a
     * loopback address, the address of a trusted proxy, or an untrusted Unix socket. Callers that have hung up are one
     * subscriber.
     */
    subscriberUnlessProxy(request: IncomingMessage): string | undefined {
      if (behindUnknownProxy) return undefined;
      const address = addressOf(request);
      if (address === undefined) return isUnixSocket(request.socket) ? undefined : '';
      const isProxy = ipaddr.process(address).range() === 'loopback' || trusts(address, 0);
      return isProxy ? undefined : networkOf(address);
    },
  };
}

/**
 * Whether a request came through a Unix socket. A TCP socket that was reset has no remote address either, but still a
 * local one.
 */
function isUnixSocket({ remoteAddress, localAddress, destroyed }: Socket): boolean {
  return remoteAddress === undefined && localAddress === undefined && !destroyed;
}

/** The IPv4 address, or the /64 network of an IPv6 address: what one subscriber has. @param address a valid one */
export function networkOf(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const bytes = parsed.toByteArray();
  // An IPv6-only network translates all of IPv4 into one /64. @see RFC 6052 §2.2, RFC 7755
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

/**
 * Removes the port that some proxies add. Otherwise, a trusted proxy would not be recognized, and would be counted as
 * the client.
 */
function withoutPort(entry: string): string {
  // In an IPv6 address without brackets, the last group only looks like a port.
  return isIP(entry) > 0 ? entry : entry.replace(/^(?:\[(.+)\]|(.+?))(?::\d{1,5})?$/, '$1$2');
}
