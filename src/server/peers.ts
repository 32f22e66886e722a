import type { Socket } from 'node:net';
import { toNetwork } from '../http/client-address.ts';

/** The network of a client, or an empty text after a reset or behind a Unix socket. */
export const clientOf = ({ remoteAddress }: Socket) => (remoteAddress === undefined ? '' : toNetwork(remoteAddress));

/** Identifies a connection by its ends. TLS wraps the socket in another one, which has the same ends. */
export function peerKey({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
