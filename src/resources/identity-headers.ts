import type { Identity } from '../access/identity.ts';

/**
 * An identity as request headers for a server behind a proxy. No header is left out, because some proxies pass the
 * client's own header where one is missing: a client could then claim to be somebody.
 */
export function identityHeaders({ sub, preferred_username, email, groups = [] }: Identity) {
  return {
    'X-Forwarded-User': encoded(sub),
    'X-Forwarded-Preferred-Username': encoded(preferred_username ?? ''),
    'X-Forwarded-Email': encoded(email ?? ''),
    'X-Forwarded-Groups': groups.map(encoded).join(','),
  };
}

/** Percent-encodes everything but visible ASCII, as well as `%` and `,`: a comma would split one group into two. */
const encoded = (value: string) =>
  Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[^\x21-\x24\x26-\x2b\x2d-\x7e]/g, (byte) => {
      const code = byte.charCodeAt(0).toString(16).toUpperCase();
      return `%${code.padStart(2, '0')}`;
    });
