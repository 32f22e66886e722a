import type { Identity } from '../access/identity.ts';

/**
 * An identity as headers of a request, for a server behind a proxy. All are there each time: proxies pass what a client
 * sends in place of a missing one.
 */
export function identityHeaders({ sub, preferred_username, email, groups = [] }: Identity) {
  return {
    'X-Forwarded-User': encoded(sub),
    'X-Forwarded-Preferred-Username': encoded(preferred_username ?? ''),
    'X-Forwarded-Email': encoded(email ?? ''),
    'X-Forwarded-Groups': groups.map(encoded).join(','),
  };
}

/** With all but visible ASCII percent-encoded, and `%` and `,`, so that no value is two. */
const encoded = (value: string) =>
  Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[^\x21-\x24\x26-\x2b\x2d-\x7e]/g, (byte) => {
      const code = byte.charCodeAt(0).toString(16).toUpperCase();
      return `%${code.padStart(2, '0')}`;
    });
