import type { Identity } from '../access/identity.ts';

/**
 * An identity as headers of a request, for a server behind a proxy. Each header is there, even if empty: in place of a
 * missing one, proxies pass what the client sends.
 */
export function identityHeaders({ sub, preferred_username, email, groups = [] }: Identity) {
  return {
    'X-Forwarded-User': encoded(sub),
    'X-Forwarded-Preferred-Username': encoded(preferred_username ?? ''),
    'X-Forwarded-Email': encoded(email ?? ''),
    'X-Forwarded-Groups': groups.map(encoded).join(','),
  };
}

/** A value with `%`, `,` and all but visible ASCII percent-encoded: a comma would make two groups of one. */
const encoded = (value: string) =>
  Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[^\x21-\x24\x26-\x2b\x2d-\x7e]/g, (byte) => {
      const code = byte.charCodeAt(0).toString(16).toUpperCase();
      return `%${code.padStart(2, '0')}`;
    });
