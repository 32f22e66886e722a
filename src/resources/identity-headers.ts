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

/** So that no value is two, and no header has more than visible ASCII. */
const encoded = (value: string) =>
  [...Buffer.from(value)]
    .map((byte) =>
      byte > 0x20 && byte < 0x7f && byte !== 0x25 && byte !== 0x2c
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
