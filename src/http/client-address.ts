import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** The word in `--trusted-proxies` for all connections through a Unix socket. */
export const unixSocketWord = 'unix';
// Room for twenty proxies. A client can put thousands of addresses in front of those that the proxies add.
const longestForwarded = 1024;

/**
 * Creates functions that tell a caller's address, also behind trusted proxies.
 *
 * @param trustedProxies addresses and networks whose `X-Forwarded-For` is trusted, and `unix` for Unix sockets
 * @param behindUnknownProxy whether every address may be a proxy's
 */
export function createClientAddresses(trustedProxies: readonly string[], behindUnknownProxy = false) {
  const addresses = trustedProxies.filter((entry) => entry !== unixSocketWord);
  const trustsUnixSocket = addresses.length < trustedProxies.length;
  const isTrusted = addresses.length > 0 ? proxyAddr.compile(addresses) : () => false;

  /** Whether a connection is a trusted proxy's. A proxy sends many requests, and to parse its address takes long. */
  const proxyConnections = new WeakMap<Socket, boolean>();

  /** Whether a request comes from a trusted proxy itself. */
  function isFromProxy({ socket }: IncomingMessage): boolean {
    const known = proxyConnections.get(socket);
    if (known !== undefined) return known;
    const isProxy = (trustsUnixSocket && isUnixSocket(socket)) || isTrusted(socket.remoteAddress ?? '', 0);
    // A connection that has closed has lost its address.
    if (!socket.destroyed) proxyConnections.set(socket, isProxy);
    return isProxy;
  }

  /** The address of the caller. Undefined if the caller came through an untrusted Unix socket, or has hung up. */
  function clientAddress(request: IncomingMessage): string | undefined {
    const { socket, headers } = request;
    const { remoteAddress } = socket;
    if (trustedProxies.length === 0 || !isFromProxy(request)) return remoteAddress;
    const forwarded = parseForwardedFor(`${headers['x-forwarded-for'] ?? ''}`);
    // The last address of the header comes first here. An untrusted hop can forge all addresses beyond its own.
    const nearestUntrusted = forwarded.find((address, hop) => !isTrusted(address, hop + 1));
    const claimed = nearestUntrusted ?? forwarded.at(-1) ?? '';
    // If a trusted proxy sends something that is no address, count the proxy itself.
    return ipaddr.isValid(claimed) ? claimed : remoteAddress;
  }

  return {
    clientAddress,
    isFromProxy,
    isTrusted,
    /**
     * The network of a caller, to which limits apply: an IPv4 address, or the /64 network of an IPv6 address, because a
     * subscriber gets at least that. Empty for all callers without an address.
     */
    clientNetwork(request: IncomingMessage): string {
      const address = clientAddress(request);
      return address === undefined ? '' : toNetwork(address);
    },
    /**
     * The network of a caller. Undefined if the address may be a proxy's (a loopback address, a trusted proxy, or an
     * untrusted Unix socket), because one limit would then apply to all clients of the proxy. Empty for callers that
     * have hung up.
     */
    clientNetworkUnlessProxy(request: IncomingMessage): string | undefined {
      if (behindUnknownProxy) return undefined;
      const address = clientAddress(request);
      if (address === undefined) return isUnixSocket(request.socket) ? undefined : '';
      const mayBeProxy = ipaddr.process(address).range() === 'loopback' || isTrusted(address, 0);
      return mayBeProxy ? undefined : toNetwork(address);
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

/** Returns an IPv4 address itself, or the /64 network of an IPv6 address. @param address a valid address */
export function toNetwork(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const bytes = parsed.toByteArray();
  // An IPv6-only network translates all of IPv4 into one /64. @see RFC 6052 §2.2, RFC 7755
  const isTranslated = parsed.range() === 'rfc6052' || parsed.range() === 'rfc6145';
  if (isTranslated) return bytes.slice(-4).join('.');
  return Buffer.from(bytes.slice(0, 8)).toString('hex');
}

/** Parses `X-Forwarded-For` into addresses without ports, the last one first. */
function parseForwardedFor(header: string): string[] {
  const end = header.slice(-longestForwarded);
  const isCut = end.length < header.length;
  const wholeEntries = isCut ? end.slice(end.indexOf(',') + 1) : end;
  return wholeEntries
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(removePort)
    .reverse();
}

/**
 * Removes the port that some proxies add. Otherwise, a trusted proxy would not be recognized, and would be counted as
 * the client.
 */
function removePort(entry: string): string {
  // In an IPv6 address without brackets, the last group only looks like a port.
  return isIP(entry) > 0 ? entry : entry.replace(/^(?:\[(.+)\]|(.+?))(?::\d{1,5})?$/, '$1$2');
}
