import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { createClientAddresses } from '../http/client-address.ts';

/**
 * How much of an address is shown: nothing, all of it, or its /24 (IPv4) or /48 (IPv6) network. An address that
 * identifies no person is always shown as a `neighbour`.
 */
type Detail = 'off' | 'whole' | 'cut';

/** Creates functions that return addresses as the log shows them. */
export function createLoggedAddresses(detail: Detail, trustedProxies: readonly string[]) {
  if (detail === 'off') return { client: () => undefined, peer: () => undefined, neighbour: keepIfNearby };
  const { clientAddress, isTrusted } = createClientAddresses(trustedProxies);
  const format = (address: string | undefined) => address && formatAddress(address, detail);
  return {
    /** The caller's address, or a proxy's if the proxy does not tell it; undefined behind a Unix socket. */
    client: (request: IncomingMessage): string | undefined => format(clientAddress(request)),
    /** The address at the other end of a connection; undefined if it is a trusted proxy's. */
    peer: (address: string | undefined): string | undefined =>
      format(address !== undefined && isTrusted(address, 0) ? undefined : address),
    /** The address at the other end of a connection. It is complete for a proxy or another machine of the operator. */
    neighbour: (address: string | undefined): string | undefined => keepIfNearby(address) ?? format(address),
  };
}

const rangesNearby: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'];

/**
 * Returns an address that does not exist on the Internet, so that it identifies no person.
 *
 * @returns undefined for any other address
 */
function keepIfNearby(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const parsed = parseAddress(address);
  return rangesNearby.includes(parsed.range()) ? parsed.toString() : undefined;
}

/** Parses an address without its zone, which names an interface of this machine. */
const parseAddress = (address: string) => ipaddr.process(address.replace(/%.*$/, ''));

/** Formats an address, whole or as its /24 (IPv4) or /48 (IPv6) network. */
function formatAddress(address: string, detail: 'whole' | 'cut'): string {
  const parsed = parseAddress(address);
  if (detail === 'whole') return parsed.toString();
  const kept = parsed.kind() === 'ipv4' ? 3 : 6;
  const bytes = parsed.toByteArray().map((byte, index) => (index < kept ? byte : 0));
  return `${ipaddr.fromByteArray(bytes)}/${kept * 8}`;
}
