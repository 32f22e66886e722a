import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { resolverFor } from './client-address.ts';

/** How much of an address is shown: nothing, all of it, or its /24 (IPv4) or /48 (IPv6) network. */
type Detail = 'off' | 'whole' | 'cut';

/** The addresses of clients, as the log shows them. */
export interface LoggedAddresses {
  /** The client's address; that of a proxy if the proxy names no client. Undefined behind a Unix socket. */
  of(request: IncomingMessage): string | undefined;
  /** The address of the peer, unless it is a trusted proxy. */
  ofPeer(address: string | undefined): string | undefined;
}

/** @param settings.trustedProxies addresses and networks whose `X-Forwarded-For` is trusted, and `unix` */
export function loggedAddresses(settings: {
  readonly trustedProxies: readonly string[];
  readonly logClientAddress: Detail;
}): LoggedAddresses {
  const { trustedProxies, logClientAddress: detail } = settings;
  if (detail === 'off') return { of: () => undefined, ofPeer: () => undefined };
  const { addressOf, trusts } = resolverFor(trustedProxies);
  const show = (address: string | undefined) =>
    address === undefined ? undefined : shown(address, detail);
  return {
    of: (request) => show(addressOf(request)),
    ofPeer: (address) => show(address !== undefined && trusts(address, 0) ? undefined : address),
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
