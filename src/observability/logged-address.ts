import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { createClientAddresses } from '../http/client-address.ts';

/** How much of an address is shown: nothing, all of it, or its /24 (IPv4) or /48 (IPv6) network. */
type Detail = 'off' | 'whole' | 'cut';

/** The addresses of callers, in the form for the log. */
export function loggedAddresses(detail: Detail, trustedProxies: readonly string[]) {
  if (detail === 'off') return { of: () => undefined, ofPeer: () => undefined, ofNeighbour: near };
  const { clientAddress, isTrusted } = createClientAddresses(trustedProxies);
  const show = (address: string | undefined) => address && shown(address, detail);
  return {
    /** The caller's address, or that of a proxy if the proxy does not tell. Undefined behind a Unix socket. */
    of: (request: IncomingMessage): string | undefined => show(clientAddress(request)),
    /** The address at the other end of a connection, unless it is a trusted proxy's. */
    ofPeer: (address: string | undefined): string | undefined =>
      show(address !== undefined && isTrusted(address, 0) ? undefined : address),
    /** The address at the other end of a connection: complete for a proxy or another machine of the operator. */
    ofNeighbour: (address: string | undefined): string | undefined => near(address) ?? show(address),
  };
}

const rangesNearby: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'];

/** An address that does not exist on the Internet, so it identifies no person. */
function near(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  return rangesNearby.includes(parsed.range()) ? parsed.toString() : undefined;
}

function shown(address: string, detail: 'whole' | 'cut'): string {
  // A zone names an interface of this machine.
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (detail === 'whole') return parsed.toString();
  const kept = parsed.kind() === 'ipv4' ? 3 : 6;
  const bytes = parsed.toByteArray().map((byte, index) => (index < kept ? byte : 0));
  return `${ipaddr.fromByteArray(bytes)}/${kept * 8}`;
}
