import type { AddressInfo, Server } from 'node:net';

/** The settings of every contender: its client, its own address, and its front end. */
export const registration = {
  clientId: 'bench-client',
  clientSecret: 'bench-secret-0123456789abcdef0123456789abcdef',
  baseUrl: 'http://localhost:8000',
  redirectUri: 'http://localhost:8000/auth/provider/callback',
  frontEnd: 'http://localhost:3000',
} as const;

/** The host of the resource that browsers open, and its address. */
export const doorHost = 'notes.localhost:8000';
export const doorUrl = `http://${doorHost}/`;

/** The address of the server of the resource `notes`. */
export const resourceSecret = 'resource-secret-0123456789abcdef0123456789abcdef';

/** The address of the provider, and of the server behind the doors, for the measured programs. */
export const origin = process.env['PROVIDER_URL'] ?? '';

export const authorizeUrl = `${origin}/authorize`;
export const tokenUrl = `${origin}/token`;
export const userUrl = `${origin}/user`;

/** Writes the address of a server once it listens. */
export function announce(server: Server): void {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`"address":"http://127.0.0.1:${port}"\n`);
}
